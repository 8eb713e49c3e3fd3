import type { Definition } from './name-table.js';
import { distinctId, isUi, underscoreId } from './resource-uri.js';
import { slowSort, type Pause } from './slow-sort.js';

/** A resource as its server listed it, with its identifier. */
export interface Resource {
  readonly server: string;
  readonly uri: string;
  readonly id: string;
  readonly text: string;
}

const byName = (a: Definition, b: Definition): number => order(a.name, b.name);
const byId = (a: Resource, b: Resource): number => order(a.id, b.id);
const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * What one server lists, sorted by URI and by identifier, so that finding one is a search by halves and takes no
 * index. Immutable, and of one sync: texts are parts of the pages they came on, and a list that mixed those of many
 * syncs would keep the pages of all of them.
 */
export class ResourceList {
  private ownUis: readonly Resource[] | undefined;
  private ownPlain: readonly Resource[] | undefined;
  private ownPlainById: readonly Resource[] | undefined;

  private constructor(
    readonly byUri: readonly Resource[],
    readonly byId: readonly Resource[],
  ) {}

  static readonly EMPTY = new ResourceList([], []);

  /** Definitions by their URIs; of equal ones the first stays. */
  static async build(server: string, listed: readonly Definition[], pause: Pause): Promise<ResourceList> {
    const sorted = await slowSort(listed, byName, pause);
    const resources: Unsettled[] = [];
    for (const { name: uri, text } of sorted) {
      if ((resources.length & 255) === 0) await pause();
      if (resources.at(-1)?.uri !== uri)
        resources.push({ server, uri, text, id: underscoreId({ server, uri }) });
    }
    const ids = await slowSort(resources, byId, pause);
    return tellApart(ids)
      ? new ResourceList(resources, await slowSort(ids, byId, pause))
      : new ResourceList(resources, ids);
  }

  get size(): number {
    return this.byUri.length;
  }

  find(uri: string): Resource | undefined {
    return search(this.byUri, uri, 'uri');
  }

  findId(id: string): Resource | undefined {
    return search(this.byId, id, 'id');
  }

  /** In order. */
  *startingWith(prefix: string): Iterable<Resource> {
    for (let i = firstFrom(this.byUri, prefix); i < this.size; i++) {
      const resource = this.byUri[i]!;
      if (!resource.uri.startsWith(prefix)) return;
      yield resource;
    }
  }

  /** User interfaces keep their scheme under every style, so they are listed apart. */
  get uis(): readonly Resource[] {
    return (this.ownUis ??= this.byUri.filter(({ uri }) => isUi(uri)));
  }

  get plain(): readonly Resource[] {
    return (this.ownPlain ??= this.withoutUis(this.byUri));
  }

  get plainById(): readonly Resource[] {
    return (this.ownPlainById ??= this.withoutUis(this.byId));
  }

  equals(other: ResourceList): boolean {
    return (
      this.size === other.size && this.byUri.every(({ text }, index) => text === other.byUri[index]!.text)
    );
  }

  private withoutUis(resources: readonly Resource[]): readonly Resource[] {
    return this.uis.length === 0 ? resources : resources.filter(({ uri }) => !isUi(uri));
  }
}

/** A resource whose identifier may yet have to give way. */
type Unsettled = { -readonly [Key in keyof Resource]: Resource[Key] };

/** Of those that share an identifier, the first by URI keeps it. True when there were any. */
function tellApart(sortedById: readonly Unsettled[]): boolean {
  let any = false;
  let shared: string | undefined;
  for (const resource of sortedById) {
    if (resource.id !== shared) {
      shared = resource.id;
      continue;
    }
    any = true;
    resource.id = distinctId(resource);
  }
  return any;
}

function search(sorted: readonly Resource[], wanted: string, key: 'uri' | 'id'): Resource | undefined {
  let low = 0;
  let high = sorted.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const candidate = sorted[middle]!;
    if (candidate[key] === wanted) return candidate;
    if (candidate[key] < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return undefined;
}

/** The index of the first whose URI is not before this text. */
function firstFrom(sorted: readonly Resource[], text: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]!.uri < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
