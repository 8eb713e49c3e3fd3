import { parseQuery } from '../../lib/text-index/query.js';
import {
  characterClassOf,
  fold,
  IDEOGRAPH,
  LOWER,
  SEPARATOR,
  UPPER,
} from '../../lib/text-index/tokenizer.js';
import type { HighlightPiece } from './text-line.js';

const ASCII = /^\p{ASCII}*$/u;
const segments = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Finds matches like the resource search of the gateway: words, ignoring case and accents; the last may be a prefix. */
export function highlightWords(text: string, query: string): readonly HighlightPiece[] {
  const { terms } = parseQuery(query);
  if (terms.length === 0 || text === '') return [{ text, isMatch: false }];
  const folded = new FoldedText(text);
  const isMatched = new Uint8Array(text.length);
  for (const { text: term, isPrefix } of terms)
    for (const [start, end] of folded.occurrencesOf(term, isPrefix)) isMatched.fill(1, start, end);
  return piecesOf(text, isMatched);
}

/** A text in the form in which words are compared, with the position of each letter in the original text. */
class FoldedText {
  private readonly lower: string;
  private readonly characterClasses: number[] = [];
  /** Start and end of the grapheme that a letter comes from. */
  private readonly starts: number[] = [];
  private readonly ends: number[] = [];

  constructor(text: string) {
    const pieces = ASCII.test(text)
      ? Array.from(text, (segment, index) => ({ segment, index }))
      : segments.segment(text);
    let all = '';
    for (const { segment, index } of pieces) {
      const letters = fold(segment);
      all += letters;
      for (const letter of letters) this.add(letter, index, index + segment.length);
    }
    this.lower = all.toLowerCase();
  }

  *occurrencesOf(word: string, isPrefix: boolean): Iterable<readonly [number, number]> {
    for (let at = this.lower.indexOf(word); at !== -1; at = this.lower.indexOf(word, at + 1)) {
      const end = at + word.length;
      if (this.isWordBoundary(at) && (isPrefix || this.isWordBoundary(end)))
        yield [this.starts[at]!, this.ends[end - 1]!];
    }
  }

  private add(letter: string, start: number, end: number): void {
    const kind = characterClassOf(letter.codePointAt(0)!);
    for (let unit = 0; unit < letter.length; unit++) {
      this.characterClasses.push(kind);
      this.starts.push(start);
      this.ends.push(end);
    }
  }

  /** Whether a word may start or end here: `getUser`, `HTTPServer` and `report2024` are two words each. */
  private isWordBoundary(at: number): boolean {
    const next = at + ((this.lower.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
    const [before = SEPARATOR, kind = SEPARATOR, after = SEPARATOR] = [
      this.characterClasses[at - 1],
      this.characterClasses[at],
      this.characterClasses[next],
    ];
    if (before === SEPARATOR || kind === SEPARATOR || before === IDEOGRAPH || kind === IDEOGRAPH) return true;
    if (before === kind) return kind === UPPER && after === LOWER;
    return !(before === UPPER && kind === LOWER);
  }
}

function piecesOf(text: string, isMatched: Uint8Array): HighlightPiece[] {
  const pieces: HighlightPiece[] = [];
  for (let start = 0, end = 0; start < text.length; start = end) {
    while (end < text.length && isMatched[end] === isMatched[start]) end++;
    pieces.push({ text: text.slice(start, end), isMatch: isMatched[start] === 1 });
  }
  return pieces;
}
