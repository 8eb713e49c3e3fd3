/** Results of a search that are ordered by relevance. The others follow in the order of their names or URIs. */
export const MAX_RANKED = 1000;

/** No public name or URI starts with this. */
const PREFIX = '\0';

/** The key of a cursor in results that are ranked: how many of them the previous pages had. */
export const rankKey = (count: number): string => `${PREFIX}${count}`;

/** The number in the key of a cursor; undefined for a key of another kind, and 0 for the first page. */
export function rankIn(key: string): number | undefined {
  if (key === '') return 0;
  return key.startsWith(PREFIX) ? Number(key.slice(PREFIX.length)) : undefined;
}
