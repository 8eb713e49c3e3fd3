import type { ListId } from './entry.js';
import { highlight } from './highlight.js';
import { span, type Look, type Span } from './text-line.js';
import { markWords } from './word-marks.js';

/** What is found in a text stands out; the rest looks as told. */
export type Mark = (text: string, look: Look) => readonly Span[];

export const UNMARKED: Mark = (text, look) => [span(text, look)];

/** Resources are found by words; in the other lists a word may occur anywhere. */
export function marking(list: ListId, query: string): Mark {
  if (query.trim() === '') return UNMARKED;
  const find = list === 'resources' ? markWords : highlight;
  return (text, look) =>
    find(text, query).map(({ text: piece, isMatch }) => span(piece, isMatch ? 'match' : look));
}
