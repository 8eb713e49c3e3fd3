import { GAP, kindOf, LOWER, SIGN, UPPER } from '../../lib/text-index/letters.js';
import { parseQuery } from '../../lib/text-index/query.js';
import { fold } from '../../lib/text-index/words.js';
import type { HighlightPiece } from './highlight.js';

const ASCII = /^\p{ASCII}*$/u;
const segments = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/**
 * Marks a text as the gateway finds resources: by words in any case, with accents or without, of which the last may be a
 * beginning.
 */
export function highlightWords(text: string, query: string): readonly HighlightPiece[] {
  const { words } = parseQuery(query, (_word, isLast) => isLast);
  if (words.length === 0 || text === '') return [{ text, isMatch: false }];
  const folded = new FoldedText(text);
  const isMarked = new Uint8Array(text.length);
  for (const word of words)
    for (const [start, end] of folded.placesOf(word.text, word.isPrefix)) isMarked.fill(1, start, end);
  return piecesOf(text, isMarked);
}

/** A text as words are compared, which knows where each of its letters came from. */
class FoldedText {
  private readonly lower: string;
  private readonly kinds: number[] = [];
  /** Where the piece of the text that a letter came from starts and ends. */
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

  *placesOf(word: string, isPrefix: boolean): Iterable<readonly [number, number]> {
    for (let at = this.lower.indexOf(word); at !== -1; at = this.lower.indexOf(word, at + 1)) {
      const end = at + word.length;
      if (this.isBorder(at) && (isPrefix || this.isBorder(end)))
        yield [this.starts[at]!, this.ends[end - 1]!];
    }
  }

  private add(letter: string, start: number, end: number): void {
    const kind = kindOf(letter.codePointAt(0)!);
    for (let unit = 0; unit < letter.length; unit++) {
      this.kinds.push(kind);
      this.starts.push(start);
      this.ends.push(end);
    }
  }

  /** Whether a word may start or end here: `getUser`, `HTTPServer` and `report2024` are several. */
  private isBorder(at: number): boolean {
    const next = at + ((this.lower.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
    const [before = GAP, kind = GAP, after = GAP] = [this.kinds[at - 1], this.kinds[at], this.kinds[next]];
    if (before === GAP || kind === GAP || before === SIGN || kind === SIGN) return true;
    if (before === kind) return kind === UPPER && after === LOWER;
    return !(before === UPPER && kind === LOWER);
  }
}

function piecesOf(text: string, isMarked: Uint8Array): HighlightPiece[] {
  const pieces: HighlightPiece[] = [];
  for (let start = 0, end = 0; start < text.length; start = end) {
    while (end < text.length && isMarked[end] === isMarked[start]) end++;
    pieces.push({ text: text.slice(start, end), isMatch: isMarked[start] === 1 });
  }
  return pieces;
}
