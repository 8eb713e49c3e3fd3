import type { ResourceList } from '../core/resources/resource-list.js';
import type { ResourcePattern } from '../core/resources/resource-pattern.js';
import type { Yield } from '../lib/slices/slices.js';

/** Maximum resources that a pattern watches, because its server gets a request for each of them. */
export const MAX_PATTERN_MATCHES = 1000;
/** Bounds the memory that a client can fill with ever different patterns. */
const MAX_CACHED_PATTERNS = 100;

/** The resources of a list that a pattern watches, in the order of the list. */
export interface PatternMatches {
  readonly uris: readonly string[];
  /** There are more matches than the maximum. */
  readonly isCut: boolean;
}

/** By the text of the pattern. Lists are immutable, so that an entry is valid as long as its list. */
const cache = new WeakMap<ResourceList, Map<string, PatternMatches>>();

/** Sliced, because a template may match few resources of a million. */
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
  let scanned = 0;
  for (const { uri } of list.startingWith(pattern.prefix)) {
    if ((++scanned & 255) === 0) await yieldIfDue();
    if (!pattern.matches(uri)) continue;
    if (uris.length === MAX_PATTERN_MATCHES) return { uris, isCut: true };
    uris.push(uri);
  }
  return { uris, isCut: false };
}
