import type { ResourceList } from '../core/resource-list.js';
import type { ResourcePattern } from '../core/resource-pattern.js';

/** A pattern that fits more than this would have its server told of every one of them. */
export const MOST_MATCHES = 1000;

/** What of a list a pattern watches, in the order of the list. `onMore` hears that it would be more. */
export function* matchesIn(
  list: ResourceList,
  pattern: ResourcePattern,
  onMore: () => void = () => {},
): Iterable<string> {
  let left = MOST_MATCHES;
  for (const { uri } of list.startingWith(pattern.prefix)) {
    if (!pattern.matches(uri)) continue;
    if (left-- === 0) {
      onMore();
      return;
    }
    yield uri;
  }
}
