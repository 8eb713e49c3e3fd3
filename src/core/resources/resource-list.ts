import type { Definition } from '../naming/catalog-entry.js';
import { distinctId, isUi, underscoreId } from './resource-uri.js';
import { slicedSort } from '../../lib/slices/sliced-sort.js';
import type { Yield } from '../../lib/slices/slices.js';
import { findByKey, lowerBound } from '../../lib/sorted/binary-search.js';

/** A resource as its server listed it, with its identifier. */
export interface Resource {
  readonly server: string;
  readonly uri: string;
  readonly id: string;
  readonly text: string;
}

const compareNames = (a: Definition, b: Definition): number => compare(a.name, b.name);
const compareIds = (a: Resource, b: Resource): number => compare(a.id, b.id);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * What one server lists, sorted by URI and by identifier, so that finding one is a search by halves and takes no
 * index. Immutable, and of one sync: texts are parts of the pages they came on, and a list that mixed those of many
 * syncs would keep the pages of all of them.
 */
export class ResourceList {
  private constructor(
    readonly byUri: readonly Resource[],
    readonly byId: readonly Resource[],
    /** User interfaces keep their scheme under every style, so they are listed apart. */
    readonly uis: readonly Resource[],
    readonly plain: readonly Resource[],
    readonly plainById: readonly Resource[],
  ) {}

  /** Nothing is known yet. */
  static readonly EMPTY = new ResourceList([], [], [], [], []);
  /** The server was asked, and has none. */
  static readonly NONE = new ResourceList([], [], [], [], []);

  /** Definitions by their URIs; of equal ones the first stays. */
  static async build(
    server: string,
    listed: readonly Definition[],
    yieldIfDue: Yield,
  ): Promise<ResourceList> {
    const sorted = await slicedSort(listed, compareNames, yieldIfDue);
    const resources: Unsettled[] = [];
    for (const { name: uri, text } of sorted) {
      if ((resources.length & 255) === 0) await yieldIfDue();
      if (resources.at(-1)?.uri !== uri)
        resources.push({ server, uri, text, id: underscoreId({ server, uri }) });
    }
    let ids = await slicedSort(resources, compareIds, yieldIfDue);
    for (const digits of DIGITS) {
      if (!(await tellApart(ids, digits, yieldIfDue))) break;
      ids = await slicedSort(ids, compareIds, yieldIfDue);
    }
    const uis = await only(resources, isOfUi, yieldIfDue);
    const isPlain = (resource: Resource): boolean => !isOfUi(resource);
    const [plain, plainById] =
      uis.length === 0
        ? [resources, ids]
        : [await only(resources, isPlain, yieldIfDue), await only(ids, isPlain, yieldIfDue)];
    return new ResourceList(resources, ids, uis, plain, plainById);
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

  hasPrefix(prefix: string): boolean {
    return this.byUri[lowerBound(this.byUri, prefix, uriOf)]?.uri.startsWith(prefix) ?? false;
  }

  /** Resources whose URIs start with this prefix, in order. */
  startingWith(prefix: string): Iterable<Resource> {
    return itemsStartingWith(this.byUri, prefix, uriOf);
  }

  idsStartingWith(prefix: string): Iterable<Resource> {
    return itemsStartingWith(this.byId, prefix, idOf);
  }

  async equals(other: ResourceList, yieldIfDue: Yield): Promise<boolean> {
    if (this.size !== other.size) return false;
    for (const [index, { text }] of this.byUri.entries()) {
      if ((index & 255) === 0) await yieldIfDue();
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
  for (let i = lowerBound(sorted, prefix, keyOf); i < sorted.length; i++) {
    const resource = sorted[i]!;
    if (!keyOf(resource).startsWith(prefix)) return;
    yield resource;
  }
}

const isOfUi = ({ uri }: Resource): boolean => isUi(uri);

async function only(
  resources: readonly Resource[],
  test: (resource: Resource) => boolean,
  yieldIfDue: Yield,
): Promise<Resource[]> {
  const found: Resource[] = [];
  for (const [index, resource] of resources.entries()) {
    if ((index & 1023) === 0) await yieldIfDue();
    if (test(resource)) found.push(resource);
  }
  return found;
}

/** A resource whose identifier may yet have to give way. */
type Unsettled = { -readonly [Key in keyof Resource]: Resource[Key] };

/** How much of the digest goes into an identifier; more for those that still share it. */
const DIGITS = [8, 16, 64];

/**
 * None of those that share an identifier keeps it: what it stands for would change with what else is listed, and a
 * client that kept it would read something else. True when there were any.
 */
async function tellApart(
  sortedById: readonly Unsettled[],
  digits: number,
  yieldIfDue: Yield,
): Promise<boolean> {
  let any = false;
  let shared: string | undefined;
  for (const [index, resource] of sortedById.entries()) {
    if ((index & 63) === 0) await yieldIfDue();
    const { id } = resource;
    if (id === shared || id === sortedById[index + 1]?.id) {
      any = true;
      resource.id = distinctId(resource, digits);
    }
    shared = id;
  }
  return any;
}

const uriOf = ({ uri }: Resource): string => uri;
const idOf = ({ id }: Resource): string => id;
