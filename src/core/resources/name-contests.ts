import { ConflictingNames } from './conflicting-names.js';
import { cutSlowly, isQuickToCut } from './list-cut.js';
import { areNamesakesKnown, findNamesakes, namesakesIn } from './namesakes.js';
import type { ResourceOffer } from './resource-offer.js';
import type { ResourceStyle } from './resource-uri.js';
import { compareSlowly, isQuickToCompare, sharedKeys, type Key } from './shared-keys.js';
import type { Yield, SlicedJob } from '../../lib/slices/slices.js';
import { areContestsKnown, findContestsSlowly, templateContests } from './template-contests.js';

/** For each offer, which of its names something else has, too. */
export function contestedNames(offers: readonly ResourceOffer[], style: ResourceStyle): ConflictingNames[] {
  const shared = offers.map((): Record<Key, ReadonlySet<string>[]> => ({ uri: [], id: [] }));
  for (const { one, other, key } of comparisonsOf(offers, style)) {
    const keys = sharedKeys(offers[one]!.resources, offers[other]!.resources, key);
    if (keys.size === 0) continue;
    shared[one]![key].push(keys);
    shared[other]![key].push(keys);
  }
  const templates = templateContests(offers, style);
  return offers.map(({ resources }, index) => {
    const { uri, id } = shared[index]!;
    const namesakes = style === 'original' ? offers.map((offer) => namesakesIn(resources, offer)) : [];
    const { texts, ids } = templates[index]!;
    return new ConflictingNames([...uri, ...namesakes.filter(({ size }) => size > 0)], id, texts, ids);
  });
}

/** What of it may take long, to be done ahead of time, giving way; undefined when nothing does. */
export function prepareContests(
  offers: readonly ResourceOffer[],
  style: ResourceStyle,
  yieldIfDue: Yield,
): SlicedJob | undefined {
  const slow = [...slowComparisons(offers, style, yieldIfDue)];
  const cuts = slow.length === 0 ? slowCuts(offers, style, yieldIfDue) : [];
  if (slow.length === 0 && cuts.length === 0) return undefined;
  return async () => {
    for (const compare of slow) await compare();
    for (const cut of slow.length === 0 ? cuts : slowCuts(offers, style, yieldIfDue)) await cut();
  };
}

function* slowComparisons(
  offers: readonly ResourceOffer[],
  style: ResourceStyle,
  yieldIfDue: Yield,
): Iterable<SlicedJob> {
  for (const { one, other, key } of comparisonsOf(offers, style)) {
    const [a, b] = [offers[one]!.resources, offers[other]!.resources];
    if (!isQuickToCompare(a, b, key)) yield () => compareSlowly(a, b, key, yieldIfDue);
  }
  if (!areContestsKnown(offers, style)) yield () => findContestsSlowly(offers, style, yieldIfDue);
  if (style !== 'original') return;
  for (const { resources } of offers)
    for (const offer of offers)
      if (!areNamesakesKnown(resources, offer)) yield () => findNamesakes(resources, offer, yieldIfDue);
}

/** Only known when everything has been compared. */
function slowCuts(offers: readonly ResourceOffer[], style: ResourceStyle, yieldIfDue: Yield): SlicedJob[] {
  return contestedNames(offers, style).flatMap((contested, index) => {
    const { resources } = offers[index]!;
    return isQuickToCut(resources, style, contested)
      ? []
      : [() => cutSlowly(resources, style, contested, yieldIfDue)];
  });
}

/** Two offers, by their index, that may have the same. */
interface Comparison {
  readonly one: number;
  readonly other: number;
  readonly key: Key;
}

function comparisonsOf(offers: readonly ResourceOffer[], style: ResourceStyle): Comparison[] {
  const comparisons: Comparison[] = [];
  for (let one = 0; one < offers.length; one++)
    for (let other = one + 1; other < offers.length; other++) {
      if (style === 'original') comparisons.push({ one, other, key: 'uri' });
      if (mayShareIds(offers[one]!.server, offers[other]!.server))
        comparisons.push({ one, other, key: 'id' });
    }
  return comparisons;
}

/** An identifier begins with its server; where one ends the server's name is not written there. */
const mayShareIds = (a: string, b: string): boolean => a.startsWith(`${b}_`) || b.startsWith(`${a}_`);
