import type { Definition } from '../naming/catalog-entry.js';
import { distinctId, isUi, underscoreId } from './resource-uri.js';
import { slicedSort } from '../../lib/slices/sliced-sort.js';
import type { Yield } from '../../lib/slices/slices.js';
import { findByKey, lowerBound } from '../../lib/sorted/binary-search.js';

/** A resource as its server listed it, with its identifier. */
export interface Resource {
  readonly server: string;
  /** Own URI. */
  readonly uri: string;
  /** Identifier (`underscoreId`). */
  readonly id: string;
  /** The definition as JSON. */
  readonly text: string;
}

const compareNames = (a: Definition, b: Definition): number => compare(a.name, b.name);
const compareIds = (a: Resource, b: Resource): number => compare(a.id, b.id);
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Numbers of resources between two calls of `yieldIfDue`. The lower the number, the longer one resource takes. */
const CREATED_PER_YIELD = 256;
const COMPARED_PER_YIELD = 256;
const FILTERED_PER_YIELD = 1024;
const CHECKED_PER_YIELD = 64;

/**
 * The resources that one server listed at one sync. Immutable. Sorted arrays by URI and by identifier make a lookup a
 * binary search. A list must not mix resources of several syncs: their texts are substrings of the fetched pages, and
 * would keep the pages of all these syncs in memory.
 */
export class ResourceList {
  private constructor(
    readonly byUri: readonly Resource[],
    readonly byId: readonly Resource[],
    /** User interfaces, which keep their scheme in every style. */
    readonly uis: readonly Resource[],
    /** All resources except user interfaces, sorted by URI. */
    readonly plain: readonly Resource[],
    readonly plainById: readonly Resource[],
  ) {}

  /**
   * The server has not listed its resources yet. Callers compare with `===`, because `EMPTY` has no resources either.
   */
  static readonly NOT_LISTED = new ResourceList([], [], [], [], []);
  /** The server has listed its resources and has none. */
  static readonly EMPTY = new ResourceList([], [], [], [], []);

  /**
   * Creates the list from definitions, whose `name` is the URI. Of several definitions with one URI, the first counts.
   */
  static async build(
    server: string,
    listed: readonly Definition[],
    yieldIfDue: Yield,
  ): Promise<ResourceList> {
    const sorted = await slicedSort(listed, compareNames, yieldIfDue);
    const resources: MutableResource[] = [];
    for (const { name: uri, text } of sorted) {
      if (resources.length % CREATED_PER_YIELD === 0) await yieldIfDue();
      if (resources.at(-1)?.uri !== uri)
        resources.push({ server, uri, text, id: underscoreId({ server, uri }) });
    }
    let byId = await slicedSort(resources, compareIds, yieldIfDue);
    for (const digits of DIGEST_DIGITS) {
      const hadConflicts = await resolveConflicts(byId, digits, yieldIfDue);
      if (!hadConflicts) break;
      byId = await slicedSort(byId, compareIds, yieldIfDue);
    }
    const uis = await filterSliced(resources, isUiResource, yieldIfDue);
    const isPlain = (resource: Resource): boolean => !isUiResource(resource);
    const [plain, plainById] =
      uis.length === 0
        ? [resources, byId]
        : [await filterSliced(resources, isPlain, yieldIfDue), await filterSliced(byId, isPlain, yieldIfDue)];
    return new ResourceList(resources, byId, uis, plain, plainById);
  }

  get size(): number {
    return this.byUri.length;
  }

  find(uri: string): Resource | undefined {
    return findByKey(this.byUri, uri, uriOf);
  }

  findId(id: string): Resource | undefined {
    return findByKey(this.byId, id, idOf);
  }

  /** Resources whose URIs start with this prefix, in order. */
  startingWith(prefix: string): Iterable<Resource> {
    return itemsStartingWith(this.byUri, prefix, uriOf);
  }

  idsStartingWith(prefix: string): Iterable<Resource> {
    return itemsStartingWith(this.byId, prefix, idOf);
  }

  /** Whether both lists have the same definitions. */
  async equals(other: ResourceList, yieldIfDue: Yield): Promise<boolean> {
    if (this.size !== other.size) return false;
    for (const [index, { text }] of this.byUri.entries()) {
      if (index % COMPARED_PER_YIELD === 0) await yieldIfDue();
      if (text !== other.byUri[index]!.text) return false;
    }
    return true;
  }
}

function* itemsStartingWith(
  sorted: readonly Resource[],
  prefix: string,
  keyOf: (resource: Resource) => string,
): Iterable<Resource> {
  for (let index = lowerBound(sorted, prefix, keyOf); index < sorted.length; index++) {
    const resource = sorted[index]!;
    if (!keyOf(resource).startsWith(prefix)) return;
    yield resource;
  }
}

const isUiResource = ({ uri }: Resource): boolean => isUi(uri);

async function filterSliced(
  resources: readonly Resource[],
  test: (resource: Resource) => boolean,
  yieldIfDue: Yield,
): Promise<Resource[]> {
  const found: Resource[] = [];
  for (const [index, resource] of resources.entries()) {
    if (index % FILTERED_PER_YIELD === 0) await yieldIfDue();
    if (test(resource)) found.push(resource);
  }
  return found;
}

/** A resource whose identifier may still get a digest. */
type MutableResource = { -readonly [Key in keyof Resource]: Resource[Key] };

/** Digits of the digest in an identifier. More digits are used for identifiers that conflict even with a digest. */
const DIGEST_DIGITS = [8, 16, 64];

/**
 * Adds a digest to every identifier that several resources share. None of these resources keeps the identifier without
 * a digest: a later list could give that identifier to another of them, and a client that stored it would read the
 * wrong resource. Returns whether any identifier was shared.
 */
async function resolveConflicts(
  sortedById: readonly MutableResource[],
  digits: number,
  yieldIfDue: Yield,
): Promise<boolean> {
  let isAnyShared = false;
  let previousId: string | undefined;
  for (const [index, resource] of sortedById.entries()) {
    if (index % CHECKED_PER_YIELD === 0) await yieldIfDue();
    const { id } = resource;
    if (id === previousId || id === sortedById[index + 1]?.id) {
      isAnyShared = true;
      resource.id = distinctId(resource, digits);
    }
    previousId = id;
  }
  return isAnyShared;
}

const uriOf = ({ uri }: Resource): string => uri;
const idOf = ({ id }: Resource): string => id;
