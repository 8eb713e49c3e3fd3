/**
 * Maximum number of search results that are ordered by relevance. Further results follow in the order of their names or
 * URIs.
 */
export const MAX_RANKED = 1000;

/** No public name or URI starts with this. */
const PREFIX = '\0';

/** The cursor key of a page of search results that starts after this number of results. */
export const countKey = (count: number): string => `${PREFIX}${count}`;

/** The number of results before the page: 0 for the first page, and undefined if the key is a name or URI. */
export function countInKey(key: string): number | undefined {
  if (key === '') return 0;
  return key.startsWith(PREFIX) ? Number(key.slice(PREFIX.length)) : undefined;
}
