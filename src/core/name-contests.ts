import { ContestedNames } from './contested-names.js';
import type { ResourceOffer } from './resource-offer.js';
import { repeated } from './same-set.js';
import { resourceForm, type ResourceStyle } from './resource-uri.js';
import { compareSlowly, isQuickToCompare, sharedKeys, type Key } from './shared-keys.js';
import type { Pause } from './slow-sort.js';

/** For each offer, which of its names something else has, too. */
export function contestedNames(offers: readonly ResourceOffer[], style: ResourceStyle): ContestedNames[] {
  const shared = offers.map((): Record<Key, ReadonlySet<string>[]> => ({ uri: [], id: [] }));
  for (const { one, other, key } of comparisonsOf(offers, style)) {
    const keys = sharedKeys(offers[one]!.resources, offers[other]!.resources, key);
    if (keys.size === 0) continue;
    shared[one]![key].push(keys);
    shared[other]![key].push(keys);
  }
  const templates = templateContests(offers, style);
  return offers.map((offer, index) => {
    const { uri, id } = shared[index]!;
    const namesakes = style === 'original' ? offers.filter(({ server }) => hasNamesLike(offer, server)) : [];
    const texts = offer.templates.map(({ uriTemplate }) => uriTemplate);
    const ids = offer.templates.map((template) => template.id);
    return new ContestedNames(uri, id, namesakes, among(texts, templates.texts), among(ids, templates.ids));
  });
}

/** Does ahead of time, giving way, what of it may take long; undefined when nothing does. */
export function prepareContests(
  offers: readonly ResourceOffer[],
  style: ResourceStyle,
  pause: Pause,
): Promise<void> | undefined {
  const slow = comparisonsOf(offers, style)
    .map(({ one, other, key }) => [offers[one]!.resources, offers[other]!.resources, key] as const)
    .filter((comparison) => !isQuickToCompare(...comparison));
  if (slow.length === 0) return undefined;
  const compareAll = async (): Promise<void> => {
    for (const comparison of slow) await compareSlowly(...comparison, pause);
  };
  return compareAll();
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

/** Whether a server has URIs that may be taken for resource forms or identifiers of this one. */
const hasNamesLike = ({ resources }: ResourceOffer, server: string): boolean =>
  [resourceForm({ server, uri: '' }), `${server}_`].some((beginning) => resources.hasBeginning(beginning));

/** Templates are few: all their names are looked at, whosever they are. */
function templateContests(
  offers: readonly ResourceOffer[],
  style: ResourceStyle,
): { readonly texts: ReadonlySet<string>; readonly ids: ReadonlySet<string> } {
  const templates = offers.flatMap((offer) => offer.templates);
  const ids = templates.map(({ id }) => id);
  if (style !== 'original') return { texts: new Set(), ids: repeated(ids) };
  const texts = templates.map(({ uriTemplate }) => uriTemplate);
  const forms = templates.map(({ server, uriTemplate }) => resourceForm({ server, uri: uriTemplate }));
  const names = new Set([...forms, ...ids]);
  return {
    texts: new Set([...repeated(texts), ...texts.filter((text) => names.has(text))]),
    ids: repeated(ids),
  };
}

const among = (texts: readonly string[], contested: ReadonlySet<string>): ReadonlySet<string> =>
  new Set(texts.filter((text) => contested.has(text)));
