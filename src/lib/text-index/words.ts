import { DIGIT, GAP, kindOf, LOWER, SIGN, UPPER } from './letters.js';

/** A run of letters and digits in a text, lower-cased. */
export interface Chunk {
  readonly whole: string;
  /** What it is made of (`getUserProfile`, `report2024`); the whole alone where it has no inner borders. */
  readonly parts: readonly string[];
}

/** Longer words are known by their start. */
export const MOST_LETTERS = 64;
/** Letters and digits that alternate more often make a hash or an id, whose pieces mean nothing. */
const MOST_NUMBERS = 2;

const BEYOND_ASCII = /\P{ASCII}/u;
const ACCENTS = /[\u0300-\u036f]/g;

export function chunksOf(text: string): Chunk[] {
  const folded = BEYOND_ASCII.test(text) ? fold(text) : text;
  // As long as the text itself: the one letter that grows has lost its accent by now.
  const lower = folded.toLowerCase();
  const chunks: Chunk[] = [];
  let start = 0;
  let kinds = GAP;
  const end = (at: number): void => {
    if (kinds !== GAP) chunks.push(chunkOf(folded, lower, start, at, kinds));
    kinds = GAP;
  };
  for (let at = 0; at < folded.length;) {
    const codePoint = folded.codePointAt(at)!;
    const kind = kindOf(codePoint);
    if (kind === GAP || kind === SIGN || kinds === SIGN) end(at);
    if (kinds === GAP) start = at;
    kinds |= kind;
    at += codePoint > 0xffff ? 2 : 1;
  }
  end(folded.length);
  return chunks;
}

/** Every word by which a text is found, as often as it is there: the parts, and the wholes that have several. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const { whole, parts } of chunksOf(text)) {
    for (const part of parts) words.push(part);
    if (parts.length > 1) words.push(whole);
  }
  return words;
}

/** One spelling for what looks the same: composed and decomposed, wide and narrow, with accents and without. */
export function fold(text: string): string {
  return text.normalize('NFKD').replace(ACCENTS, '').normalize('NFC');
}

function chunkOf(text: string, lower: string, start: number, end: number, kinds: number): Chunk {
  const whole = wordAt(lower, start, end);
  if (kinds === LOWER || kinds === DIGIT || kinds === SIGN) return { whole, parts: [whole] };
  const borders = bordersOf(text, start, end);
  if (borders.length === 0) return { whole, parts: [whole] };
  return {
    whole,
    parts: [start, ...borders].map((from, index) => wordAt(lower, from, borders[index] ?? end)),
  };
}

/** Where the second and later parts of a chunk start. */
function bordersOf(text: string, start: number, end: number): number[] {
  const borders: number[] = [];
  let numbers = 0;
  let last = start;
  let previous = GAP;
  for (let at = start; at < end;) {
    const codePoint = text.codePointAt(at)!;
    const kind = kindOf(codePoint);
    if (kind === DIGIT && previous !== DIGIT) numbers++;
    if (numbers > MOST_NUMBERS) return [];
    if (previous !== GAP && kind !== previous) {
      // Of capitals before a small letter, the last one is the small one's: `HTTPServer`.
      const border = kind === LOWER && previous === UPPER ? last : at;
      if (border > (borders.at(-1) ?? start)) borders.push(border);
    }
    last = at;
    previous = kind;
    at += codePoint > 0xffff ? 2 : 1;
  }
  return borders;
}

const wordAt = (lower: string, start: number, end: number): string =>
  lower.slice(start, Math.min(end, start + MOST_LETTERS));
