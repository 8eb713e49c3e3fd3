import type { ResourceList } from '../core/resources/resource-list.js';
import type { ResourcePattern } from '../core/resources/resource-pattern.js';
import type { Yield } from '../lib/slices/slices.js';

/** Maximum number of resources that one pattern subscribes to. The server gets a request for each of them. */
export const MAX_PATTERN_MATCHES = 1000;
/** Maximum number of cached patterns per list. Without it, a client could fill the memory with different patterns. */
const MAX_CACHED_PATTERNS = 100;
const RESOURCES_PER_YIELD = 256;

/** The first resources of a list that match a pattern, in the order of the list. */
export interface PatternMatches {
  readonly uris: readonly string[];
  /** Whether the list has more matches than `MAX_PATTERN_MATCHES`. */
  readonly isTruncated: boolean;
}

/** By list, then by text of the pattern. Lists are immutable, so the matches in a list never change. */
const cache = new WeakMap<ResourceList, Map<string, PatternMatches>>();

/** Works in slices, because a pattern may have to be compared with a million resources. */
export async function findMatches(
  list: ResourceList,
  pattern: ResourcePattern,
  yieldIfDue: Yield,
): Promise<PatternMatches> {
  const cached = cache.get(list)?.get(pattern.text);
  if (cached) return cached;
  const matches = await scan(list, pattern, yieldIfDue);
  const patterns = cache.get(list) ?? new Map<string, PatternMatches>();
  if (patterns.size >= MAX_CACHED_PATTERNS) patterns.clear();
  cache.set(list, patterns.set(pattern.text, matches));
  return matches;
}

async function scan(
  list: ResourceList,
  pattern: ResourcePattern,
  yieldIfDue: Yield,
): Promise<PatternMatches> {
  const uris: string[] = [];
  let scannedCount = 0;
  for (const { uri } of list.startingWith(pattern.prefix)) {
    if (++scannedCount % RESOURCES_PER_YIELD === 0) await yieldIfDue();
    if (!pattern.matches(uri)) continue;
    if (uris.length === MAX_PATTERN_MATCHES) return { uris, isTruncated: true };
    uris.push(uri);
  }
  return { uris, isTruncated: false };
}
