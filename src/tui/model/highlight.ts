/** A piece of text, and whether somebody looked for it. */
export interface HighlightPiece {
  readonly text: string;
  readonly isMatch: boolean;
}

const SPECIAL = /[.*+?^${}()|[\]\\]/g;

/** Every occurrence of every word of the query, whatever its case. */
export function highlightSubstrings(text: string, query: string): readonly HighlightPiece[] {
  const words = query
    .split(/\s+/)
    .filter(Boolean)
    .toSorted((a, b) => b.length - a.length);
  if (words.length === 0 || text === '') return [{ text, isMatch: false }];
  const pattern = new RegExp(`(${words.map((word) => word.replace(SPECIAL, '\\$&')).join('|')})`, 'giu');
  return text
    .split(pattern)
    .map((piece, at) => ({ text: piece, isMatch: at % 2 === 1 }))
    .filter((piece) => piece.text !== '');
}

/** For lists that the gateway does not search itself. */
export function matchesQuery(texts: readonly string[], query: string): boolean {
  const text = texts.join('\n').toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
