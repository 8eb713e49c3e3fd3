import { highlightWords } from './highlight-words.js';
import type { ListId } from './list-row.js';
import { span, type HighlightPiece, type TextSpan, type TextStyle } from './text-line.js';

/** Divides a text into spans. A match gets the style `match`, other text the given style. */
export type Highlighter = (text: string, style: TextStyle) => readonly TextSpan[];

export const NO_HIGHLIGHT: Highlighter = (text, style) => [span(text, style)];

const REGEXP_SPECIAL = /[.*+?^${}()|[\]\\]/g;

/** Highlights matches: words in the list of resources, where the gateway searches for words; substrings in other lists. */
export function highlighterFor(list: ListId, query: string): Highlighter {
  if (query.trim() === '') return NO_HIGHLIGHT;
  const find = list === 'resources' ? highlightWords : highlightSubstrings;
  return (text, style) =>
    find(text, query).map(({ text: piece, isMatch }) => span(piece, isMatch ? 'match' : style));
}

/** Finds all occurrences of all words of the query, ignoring case. */
export function highlightSubstrings(text: string, query: string): readonly HighlightPiece[] {
  // The pattern tries the words in order. Longer words come first, because a shorter one may begin a longer one.
  const words = query
    .split(/\s+/)
    .filter(Boolean)
    .toSorted((a, b) => b.length - a.length);
  if (words.length === 0 || text === '') return [{ text, isMatch: false }];
  const pattern = new RegExp(
    `(${words.map((word) => word.replace(REGEXP_SPECIAL, '\\$&')).join('|')})`,
    'giu',
  );
  // The pattern captures the match, so other text and matches alternate in the result of `split`.
  return text
    .split(pattern)
    .map((piece, index) => ({ text: piece, isMatch: index % 2 === 1 }))
    .filter((piece) => piece.text !== '');
}

/** Whether the texts together contain all words of the query. For lists that the terminal UI searches, not the gateway. */
export function matchesQuery(texts: readonly string[], query: string): boolean {
  const text = texts.join('\n').toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
