import type { ConflictingNames } from './conflicting-names.js';
import type { Resource, ResourceList } from './resource-list.js';
import { distinctId, type ResourceStyle } from './resource-uri.js';
import { slicedSort } from '../../lib/slices/sliced-sort.js';
import type { Yield } from '../../lib/slices/slices.js';
import { indexOfKey } from '../../lib/sorted/binary-search.js';

/** A list in two parts, each in the order of what clients call it. */
export interface ListCut {
  /** What is called as the style has it. */
  readonly kept: readonly Resource[];
  /** What had to give way to something that is called the same. */
  readonly renamed: readonly Resource[];
  /** The identifiers of those, where they are called by them. */
  readonly ids: ReadonlyMap<Resource, string>;
}

interface Known {
  readonly style: ResourceStyle;
  readonly contested: ConflictingNames;
  readonly cut: ListCut;
}

/** Lists never change; what they are cut by does, and then seldom. */
const known = new WeakMap<ResourceList, Known>();

/** So many names take no noticeable time. */
const FEW = 2048;
const STEPS_BETWEEN_PAUSES = 128;

/** User interfaces, which no style renames, are in neither part. */
export function cutList(list: ResourceList, style: ResourceStyle, contested: ConflictingNames): ListCut {
  const before = cutBefore(list, style, contested);
  if (before) return before;
  const cutting = new Cutting(list, style);
  const steps = cutting.rename(contested);
  while (!steps.next().done);
  return remember(list, { style, contested, cut: cutting.cut(cutting.renamed.toSorted(byName)) });
}

/** Whether `cutList` can do it without holding anybody up. */
export const isQuickToCut = (
  list: ResourceList,
  style: ResourceStyle,
  contested: ConflictingNames,
): boolean =>
  setsOf(style, contested).reduce((sum, { size }) => sum + size, 0) <= FEW ||
  cutBefore(list, style, contested) !== undefined;

/** Does it ahead of time. */
export async function cutSlowly(
  list: ResourceList,
  style: ResourceStyle,
  contested: ConflictingNames,
  yieldIfDue: Yield,
): Promise<void> {
  const cutting = new Cutting(list, style);
  const steps = cutting.rename(contested);
  while (!steps.next().done) await yieldIfDue();
  const renamed = await slicedSort(cutting.renamed, byName, yieldIfDue);
  remember(list, { style, contested, cut: cutting.cut(renamed) });
}

/** A resource, and what it is called. */
interface Renamed {
  readonly resource: Resource;
  readonly name: string;
}

const byName = (a: Renamed, b: Renamed): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

const setsOf = (style: ResourceStyle, contested: ConflictingNames): readonly ReadonlySet<string>[] =>
  style === 'resource' ? [] : contested.sets(style === 'underscore' ? 'id' : 'uri');

/** Looks up what is contested, which is mostly little, rather than to ask of everything whether it is. */
class Cutting {
  readonly renamed: Renamed[] = [];
  private readonly ids = new Map<Resource, string>();
  private readonly key: 'uri' | 'id';
  private readonly sorted: readonly Resource[];
  /** By place in the list. */
  private readonly isRenamed: Uint8Array;

  constructor(
    list: ResourceList,
    private readonly style: ResourceStyle,
  ) {
    this.key = style === 'underscore' ? 'id' : 'uri';
    this.sorted = style === 'underscore' ? list.plainById : list.plain;
    this.isRenamed = new Uint8Array(this.sorted.length);
  }

  /** Stops now and then for others. */
  *rename(contested: ConflictingNames): Generator<void, void> {
    let step = 0;
    for (const set of setsOf(this.style, contested))
      for (const name of set) {
        if (++step % STEPS_BETWEEN_PAUSES === 0) yield;
        this.give(name);
      }
  }

  cut(renamed: readonly Renamed[]): ListCut {
    const { sorted, isRenamed, ids } = this;
    return {
      kept: renamed.length === 0 ? sorted : sorted.filter((_resource, place) => isRenamed[place] === 0),
      renamed: renamed.map(({ resource }) => resource),
      ids,
    };
  }

  private give(contested: string): void {
    const place = indexOfKey(this.sorted, contested, (resource) => resource[this.key]);
    const resource = this.sorted[place];
    if (!resource || this.isRenamed[place]) return;
    this.isRenamed[place] = 1;
    const name = this.key === 'id' ? distinctId(resource) : contested;
    if (this.key === 'id') this.ids.set(resource, name);
    this.renamed.push({ resource, name });
  }
}

function remember(list: ResourceList, cutNow: Known): ListCut {
  known.set(list, cutNow);
  return cutNow.cut;
}

function cutBefore(
  list: ResourceList,
  style: ResourceStyle,
  contested: ConflictingNames,
): ListCut | undefined {
  const before = known.get(list);
  return before?.style === style && before.contested.isSame(contested) ? before.cut : undefined;
}
