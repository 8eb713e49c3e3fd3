import type { ListId } from './list-row.js';
import { highlightSubstrings } from './highlight.js';
import { span, type TextStyle, type TextSpan } from './text-line.js';
import { highlightWords } from './highlight-words.js';

/** What is found in a text stands out; the rest looks as told. */
export type Highlighter = (text: string, style: TextStyle) => readonly TextSpan[];

export const NO_HIGHLIGHT: Highlighter = (text, style) => [span(text, style)];

/** Resources are found by words; in the other lists a word may occur anywhere. */
export function highlighterFor(list: ListId, query: string): Highlighter {
  if (query.trim() === '') return NO_HIGHLIGHT;
  const find = list === 'resources' ? highlightWords : highlightSubstrings;
  return (text, style) =>
    find(text, query).map(({ text: piece, isMatch }) => span(piece, isMatch ? 'match' : style));
}
