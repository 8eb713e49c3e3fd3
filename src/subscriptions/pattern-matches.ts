import type { ResourceList } from '../core/resources/resource-list.js';
import type { ResourcePattern } from '../core/resources/resource-pattern.js';
import type { Yield } from '../lib/slices/slices.js';

/** A pattern that fits more than this would have its server told of every one of them. */
export const MAX_PATTERN_MATCHES = 1000;
/** Whoever subscribes to ever other patterns fills no memory with them. */
const MOST_REMEMBERED = 100;

/** What of a list a pattern watches, in the order of the list. */
export interface PatternMatches {
  readonly uris: readonly string[];
  /** There would be more. */
  readonly isCut: boolean;
}

/** A list never changes, so that what was found in it stays true; by the text of the pattern. */
const found = new WeakMap<ResourceList, Map<string, PatternMatches>>();

/** At once. Quick for what was looked for before. */
export function matchesIn(list: ResourceList, pattern: ResourcePattern): PatternMatches {
  return remembered(list, pattern) ?? remember(list, pattern, finish(walk(list, pattern)));
}

/** The same, giving way: a template may fit few of a million. */
export async function findMatches(
  list: ResourceList,
  pattern: ResourcePattern,
  yieldIfDue: Yield,
): Promise<PatternMatches> {
  const known = remembered(list, pattern);
  if (known) return known;
  const steps = walk(list, pattern);
  let step = steps.next();
  for (; !step.done; step = steps.next()) await yieldIfDue();
  return remember(list, pattern, step.value);
}

/** Stops now and then. */
function* walk(list: ResourceList, pattern: ResourcePattern): Generator<undefined, PatternMatches> {
  const uris: string[] = [];
  let looks = 0;
  for (const { uri } of list.startingWith(pattern.prefix)) {
    if ((++looks & 255) === 0) yield;
    if (!pattern.matches(uri)) continue;
    if (uris.length === MAX_PATTERN_MATCHES) return { uris, isCut: true };
    uris.push(uri);
  }
  return { uris, isCut: false };
}

function finish(steps: Generator<undefined, PatternMatches>): PatternMatches {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

const remembered = (list: ResourceList, { text }: ResourcePattern): PatternMatches | undefined =>
  found.get(list)?.get(text);

function remember(list: ResourceList, { text }: ResourcePattern, matches: PatternMatches): PatternMatches {
  const ofList = found.get(list) ?? new Map<string, PatternMatches>();
  if (ofList.size >= MOST_REMEMBERED) ofList.clear();
  found.set(list, ofList.set(text, matches));
  return matches;
}
