import { highlightWords } from './highlight-words.js';
import type { ListId } from './list-row.js';
import { span, type HighlightPiece, type TextSpan, type TextStyle } from './text-line.js';

/** Splits a text into spans: matches in the style `match`, the rest in the given style. */
export type Highlighter = (text: string, style: TextStyle) => readonly TextSpan[];

export const NO_HIGHLIGHT: Highlighter = (text, style) => [span(text, style)];

const REGEXP_SPECIAL = /[.*+?^${}()|[\]\\]/g;

/** Highlights what the search of the gateway matches: words in resources, substrings in all other lists. */
export function highlighterFor(list: ListId, query: string): Highlighter {
  if (query.trim() === '') return NO_HIGHLIGHT;
  const find = list === 'resources' ? highlightWords : highlightSubstrings;
  return (text, style) =>
    find(text, query).map(({ text: piece, isMatch }) => span(piece, isMatch ? 'match' : style));
}

/** Finds all occurrences of all words of the query, ignoring case. */
export function highlightSubstrings(text: string, query: string): readonly HighlightPiece[] {
  const words = query
    .split(/\s+/)
    .filter(Boolean)
    .toSorted((a, b) => b.length - a.length);
  if (words.length === 0 || text === '') return [{ text, isMatch: false }];
  const pattern = new RegExp(
    `(${words.map((word) => word.replace(REGEXP_SPECIAL, '\\$&')).join('|')})`,
    'giu',
  );
  return text
    .split(pattern)
    .map((piece, at) => ({ text: piece, isMatch: at % 2 === 1 }))
    .filter((piece) => piece.text !== '');
}

/** Whether the texts together contain all words of the query; for lists that the gateway does not search. */
export function matchesQuery(texts: readonly string[], query: string): boolean {
  const text = texts.join('\n').toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
