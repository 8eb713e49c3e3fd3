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
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/**
 * Finds the same matches as the resource search of the gateway: whole words of the text. The last word of the query also
 * matches the start of a longer word. Ignores case and accents.
 */
export function highlightWords(text: string, query: string): readonly HighlightPiece[] {
  const { terms } = parseQuery(query);
  if (terms.length === 0 || text === '') return [{ text, isMatch: false }];
  const folded = new FoldedText(text);
  const isMatched = new Uint8Array(text.length);
  for (const { text: term, isPrefix } of terms)
    for (const [start, end] of folded.occurrencesOf(term, isPrefix)) isMatched.fill(1, start, end);
  return piecesOf(text, isMatched);
}

/**
 * A text without accents and in lower case, in which words are found. The arrays have one item for each UTF-16 unit of
 * `lower`: the class of its character, and the start and the end of its grapheme in the original text.
 */
class FoldedText {
  private readonly lower: string;
  private readonly characterClasses: number[] = [];
  private readonly starts: number[] = [];
  private readonly ends: number[] = [];

  constructor(text: string) {
    const segments = ASCII.test(text)
      ? Array.from(text, (segment, index) => ({ segment, index }))
      : graphemes.segment(text);
    let folded = '';
    for (const { segment, index } of segments) {
      const characters = fold(segment);
      folded += characters;
      for (const character of characters) this.add(character, index, index + segment.length);
    }
    this.lower = folded.toLowerCase();
  }

  /** The start and the end in the original text of each occurrence of a word. */
  *occurrencesOf(word: string, isPrefix: boolean): Iterable<readonly [number, number]> {
    for (let at = this.lower.indexOf(word); at !== -1; at = this.lower.indexOf(word, at + 1)) {
      const end = at + word.length;
      if (this.isWordBoundary(at) && (isPrefix || this.isWordBoundary(end)))
        yield [this.starts[at]!, this.ends[end - 1]!];
    }
  }

  private add(character: string, start: number, end: number): void {
    const characterClass = characterClassOf(character.codePointAt(0)!);
    for (let unit = 0; unit < character.length; unit++) {
      this.characterClasses.push(characterClass);
      this.starts.push(start);
      this.ends.push(end);
    }
  }

  /**
   * Whether one word may end before this position and another one start at it. The rules are those of the tokenizer:
   * `getUser`, `HTTPServer` and `report2024` are two words each.
   */
  private isWordBoundary(at: number): boolean {
    const nextAt = at + ((this.lower.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
    const [before = SEPARATOR, current = SEPARATOR, after = SEPARATOR] = [
      this.characterClasses[at - 1],
      this.characterClasses[at],
      this.characterClasses[nextAt],
    ];
    const delimiting = [SEPARATOR, IDEOGRAPH];
    if (delimiting.includes(before) || delimiting.includes(current)) return true;
    // The last of several capitals begins a word, as the `S` in `HTTPServer`.
    if (before === current) return current === UPPER && after === LOWER;
    const isCapitalizedWord = before === UPPER && current === LOWER;
    return !isCapitalizedWord;
  }
}

/** Divides a text into pieces that match and pieces that do not. `isMatched` is 1 for each UTF-16 unit of a match. */
function piecesOf(text: string, isMatched: Uint8Array): HighlightPiece[] {
  const pieces: HighlightPiece[] = [];
  for (let start = 0, end = 0; start < text.length; start = end) {
    while (end < text.length && isMatched[end] === isMatched[start]) end++;
    pieces.push({ text: text.slice(start, end), isMatch: isMatched[start] === 1 });
  }
  return pieces;
}
