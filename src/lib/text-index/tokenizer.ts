/** Classes of characters. Each is one bit, so that the classes of all characters of a token are one number. */
export const SEPARATOR = 0;
export const LOWER = 1;
export const UPPER = 2;
const DIGIT = 4;
/** Characters of scripts without spaces between words. Each such character is a token. */
export const IDEOGRAPH = 8;

const CLASSES: readonly (readonly [RegExp, number])[] = [
  [/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u, IDEOGRAPH],
  [/\p{Lu}/u, UPPER],
  [/\p{N}/u, DIGIT],
  [/[\p{L}\p{M}]/u, LOWER],
];

/** A run of letters and digits in a text, in lower case. */
export interface Token {
  readonly whole: string;
  /**
   * The parts of a token such as `getUserProfile` or `report2024`, divided by case and digits. Other tokens are one part.
   */
  readonly parts: readonly string[];
}

/** Longer terms are truncated. */
export const MAX_TERM_LENGTH = 64;
/** A token with more runs of digits is not divided: it is a hash or an id, whose parts have no meaning. */
const MAX_DIGIT_RUNS = 2;

const NON_ASCII = /\P{ASCII}/u;
const ACCENTS = /[\u0300-\u036f]/g;

export function tokenize(text: string): Token[] {
  const folded = NON_ASCII.test(text) ? fold(text) : text;
  // `lower` is as long as `folded`: İ, the only letter whose lower case is longer, was replaced by I in `fold`.
  const lower = folded.toLowerCase();
  const tokens: Token[] = [];
  let start = 0;
  let classes = SEPARATOR;
  const endToken = (at: number): void => {
    if (classes !== SEPARATOR) tokens.push(tokenOf(folded, lower, start, at, classes));
    classes = SEPARATOR;
  };
  for (let at = 0; at < folded.length;) {
    const codePoint = folded.codePointAt(at)!;
    const characterClass = characterClassOf(codePoint);
    if (characterClass === SEPARATOR || characterClass === IDEOGRAPH || classes === IDEOGRAPH) endToken(at);
    if (classes === SEPARATOR) start = at;
    classes |= characterClass;
    at += codePoint > 0xffff ? 2 : 1;
  }
  endToken(folded.length);
  return tokens;
}

/**
 * The terms by which a text is found, repeated terms included: the parts of its tokens, and each whole token with several
 * parts.
 */
export function termsOf(text: string): string[] {
  const terms: string[] = [];
  for (const { whole, parts } of tokenize(text)) {
    for (const part of parts) terms.push(part);
    if (parts.length > 1) terms.push(whole);
  }
  return terms;
}

/** Removes accents. Unifies composed with decomposed characters, and full-width with half-width characters. */
export function fold(text: string): string {
  return text.normalize('NFKD').replace(ACCENTS, '').normalize('NFC');
}

/** Added to every computed entry of `classCache`, because the class SEPARATOR is 0, as is an entry not yet computed. */
const COMPUTED = 16;
/** Results of `computeClass` for code points up to U+FFFF. */
const classCache = new Uint8Array(0x10000);

export function characterClassOf(codePoint: number): number {
  const cached = classCache[codePoint];
  if (cached) return cached - COMPUTED;
  const computed = computeClass(codePoint);
  if (cached === 0) classCache[codePoint] = computed + COMPUTED;
  return computed;
}

function computeClass(codePoint: number): number {
  const character = String.fromCodePoint(codePoint);
  return CLASSES.find(([pattern]) => pattern.test(character))?.[1] ?? SEPARATOR;
}

function tokenOf(text: string, lower: string, start: number, end: number, classes: number): Token {
  const whole = termAt(lower, start, end);
  if (classes === LOWER || classes === DIGIT || classes === IDEOGRAPH) return { whole, parts: [whole] };
  const boundaries = boundariesOf(text, start, end);
  if (boundaries.length === 0) return { whole, parts: [whole] };
  return {
    whole,
    parts: [start, ...boundaries].map((from, index) => termAt(lower, from, boundaries[index] ?? end)),
  };
}

/** Where the second and later parts of a token start. */
function boundariesOf(text: string, start: number, end: number): number[] {
  const boundaries: number[] = [];
  let digitRuns = 0;
  let previousAt = start;
  let previous = SEPARATOR;
  for (let at = start; at < end;) {
    const codePoint = text.codePointAt(at)!;
    const current = characterClassOf(codePoint);
    if (current === DIGIT && previous !== DIGIT) digitRuns++;
    if (digitRuns > MAX_DIGIT_RUNS) return [];
    if (previous !== SEPARATOR && current !== previous) {
      // The last of several capitals begins the next part, as the `S` in `HTTPServer`.
      const boundary = current === LOWER && previous === UPPER ? previousAt : at;
      if (boundary > (boundaries.at(-1) ?? start)) boundaries.push(boundary);
    }
    previousAt = at;
    previous = current;
    at += codePoint > 0xffff ? 2 : 1;
  }
  return boundaries;
}

const termAt = (lower: string, start: number, end: number): string =>
  lower.slice(start, Math.min(end, start + MAX_TERM_LENGTH));
