import { runAtOnce, runSliced, type Steps } from '../../lib/slices/run-sliced.js';
import { sortSteps } from '../../lib/slices/sliced-sort.js';
import type { Yield } from '../../lib/slices/slices.js';
import { mergeRuns, type SortedRun } from '../../lib/sorted/merge-runs.js';
import {
  buildPage,
  type ListPage,
  type Paged,
  type PageItem,
  type PageRequest,
} from '../catalog/list-page.js';
import type { Scope } from '../scope.js';
import { META_TOOL_SERVER, type CatalogEntry, type ListedEntry } from './catalog-entry.js';
import { ScopedNames } from './scoped-names.js';
import type { ServerEntries } from './server-entries.js';
import type { ServerIds } from './server-ids.js';

type Runs = readonly SortedRun<ListedEntry>[];

/** What a view needs for lists. */
interface SortedLists {
  /** By server: its list, in parts that are each sorted by public name. */
  readonly runs: ReadonlyMap<string, Runs>;
  readonly unlistedCount: number;
}

const STEPS_BETWEEN_YIELDS = 256;

/** The entries of a table that one scope sees, under their names in this scope. */
export class NameView implements Paged {
  /** By requested name: the entry that `find` found. */
  private readonly found = new Map<string, CatalogEntry>();
  private readonly byServer: ReadonlyMap<string, ServerEntries>;
  readonly names: ScopedNames;
  private sortedLists: SortedLists | undefined;
  private preparation: Promise<unknown> | undefined;

  constructor(
    /** The servers of the scope that have listed, sorted by rank. */
    private readonly parts: readonly ServerEntries[],
    private readonly scope: Scope,
    private readonly servers: ServerIds,
    private readonly separator: string,
  ) {
    this.byServer = new Map(parts.map((part) => [part.server, part]));
    this.names = new ScopedNames({ parts, scope, servers, separator });
  }

  prepare(startSlices: () => Yield): Promise<unknown> | undefined {
    if (this.sortedLists) return undefined;
    this.preparation ??= runSliced(this.sortLists(), startSlices());
    return this.sortedLists ? undefined : this.preparation;
  }

  /**
   * Finds an entry by its public name, by its prefixed name, or by its own name if no other server in this view has the
   * same. A name that starts with the id of a configured server leads only to that server.
   */
  find(name: string): CatalogEntry | undefined {
    let entry = this.found.get(name);
    if (!entry) {
      entry = this.lookUp(name);
      if (entry) this.found.set(name, entry);
    }
    return entry;
  }

  /** The servers of the scope to which the name belongs because it starts with their id, also as names with digest have it. */
  ownersOf(name: string): string[] {
    const owners = new Set([...this.servers.ownersOf(name)].map(([server]) => server));
    for (const server of this.servers.digestOwnersOf(name)) owners.add(server);
    return [...owners].filter((server) => this.scope.allows(server));
  }

  /** The public names of the entries that an ambiguous name may mean; empty when it can mean at most one. */
  candidates(name: string): string[] {
    const owners = [...this.servers.ownersOf(name)];
    const usual =
      owners.length === 0
        ? this.parts.map(({ byOwnName }) => byOwnName.get(name))
        : owners.map(([server, ownName]) => this.byServer.get(server)?.byOwnName.get(ownName));
    const names = usual.flatMap((entry) => this.inScope(entry)?.publicName ?? []);
    return names.length > 1 ? names : [];
  }

  /** The entry as this view lists it; undefined if it is not listed. `usual` is the entry as the table has it. */
  listedEntry(usual: CatalogEntry): ListedEntry | undefined {
    const entry = this.names.of(usual);
    return isListed(entry) ? entry : undefined;
  }

  /** Whether the server has the entry, but this view does not list it. */
  isUnlisted(server: string, ownName: string): boolean {
    const usual = this.byServer.get(server)?.byOwnName.get(ownName);
    return usual !== undefined && !this.listedEntry(usual);
  }

  /**
   * Entries whose key comes after `key`, in order; only those of `server`, if given. The key of an entry is its public
   * name, but meta tools come first (`META_TOOL_KEY`).
   */
  *after(key: string, server?: string): Iterable<ListedEntry> {
    const { runs } = this.lists;
    yield* mergeRuns(server === undefined ? [...runs.values()].flat() : (runs.get(server) ?? []), key);
  }

  page(request: PageRequest): Steps<ListPage> {
    return buildPage(request, this.itemsAfter(request.after));
  }

  private *itemsAfter(key: string): Iterable<PageItem> {
    for (const entry of this.after(key)) {
      const { text, modernText } = entry;
      yield { key: listKeyOf(entry), text, modernText };
    }
  }

  /** Number of entries that the scope contains but does not list. */
  get unlistedCount(): number {
    return this.lists.unlistedCount;
  }

  private lookUp(name: string): CatalogEntry | undefined {
    const metaTool = this.byServer.get(META_TOOL_SERVER)?.byPublicName.get(name);
    if (metaTool) return metaTool;
    const owners = [...this.servers.ownersOf(name)];
    if (owners.length === 0) return this.findUnowned(name);
    const allowedOwners = owners.filter(([server]) => this.scope.allows(server));
    const parts = allowedOwners.flatMap(([server]) => this.byServer.get(server) ?? []);
    const listed = onlyOne(parts, (part) => this.names.listedAs(part, name));
    if (listed) return listed;
    const prefixed = this.findPrefixed(allowedOwners);
    return prefixed ?? (owners.length === 1 ? this.findOwn(parts, name) : undefined);
  }

  /** Own names are not looked for if the name may be the listed name of a server. */
  private findUnowned(name: string): CatalogEntry | undefined {
    const listed = onlyOne(this.parts, (part) => this.names.listedAs(part, name));
    if (listed) return listed;
    const owners = [...this.servers.digestOwnersOf(name)];
    return owners.length === 0 ? this.findOwn(this.parts, name) : undefined;
  }

  /** Undefined while one of the owners has not listed or has disabled the entry: the name may mean that owner's entry. */
  private findPrefixed(owners: readonly (readonly [string, string])[]): CatalogEntry | undefined {
    const parts = owners.map(([server, ownName]) => ({ part: this.byServer.get(server), ownName }));
    if (parts.some(({ part, ownName }) => !part || part.disabledNames.has(ownName))) return undefined;
    return onlyOne(parts, ({ part, ownName }) => this.inScope(part?.byOwnName.get(ownName)));
  }

  private findOwn(parts: readonly ServerEntries[], name: string): CatalogEntry | undefined {
    return onlyOne(parts, ({ byOwnName }) => this.inScope(byOwnName.get(name)));
  }

  private inScope(usual: CatalogEntry | undefined): CatalogEntry | undefined {
    return usual && this.names.of(usual);
  }

  private get lists(): SortedLists {
    return this.sortedLists ?? runAtOnce(this.sortLists());
  }

  private *sortLists(): Steps<SortedLists> {
    const { renamed, unlistedCount } = yield* this.names.assignAll();
    const runs = new Map<string, Runs>();
    for (const part of this.parts) {
      yield;
      runs.set(part.server, yield* runsOf(part, renamed));
    }
    return (this.sortedLists ??= { runs, unlistedCount });
  }
}

function* runsOf({ listed }: ServerEntries, renamed: ReadonlyMap<CatalogEntry, CatalogEntry>): Steps<Runs> {
  if (renamed.size === 0) return [runOf(listed)];
  const kept: ListedEntry[] = [];
  const others: ListedEntry[] = [];
  for (const [index, usual] of listed.entries()) {
    if (index % STEPS_BETWEEN_YIELDS === STEPS_BETWEEN_YIELDS - 1) yield;
    const entry = renamed.get(usual);
    if (!entry) kept.push(usual);
    else if (isListed(entry)) others.push(entry);
  }
  if (kept.length === listed.length) return [runOf(listed)];
  return [runOf(kept), runOf(yield* sortSteps(others, compareNames))];
}

const runOf = (items: readonly ListedEntry[]): SortedRun<ListedEntry> => ({ items, keyOf: listKeyOf });

/** Prefix of the keys of meta tools. Sorts before all public names, so that the first page has the meta tools. */
const META_TOOL_KEY = '\0';

/** The key by which lists of tools and prompts are sorted. */
export const listKeyOf = ({ server, publicName }: ListedEntry): string =>
  server === META_TOOL_SERVER ? `${META_TOOL_KEY}${publicName}` : publicName;

const compareNames = (a: ListedEntry, b: ListedEntry): number => (a.publicName < b.publicName ? -1 : 1);

const isListed = (entry: CatalogEntry): entry is ListedEntry => entry.publicName !== undefined;

/** What `find` returns, if it returns something for exactly one of the items. Otherwise undefined. */
function onlyOne<Item, Found>(
  items: readonly Item[],
  find: (item: Item) => Found | undefined,
): Found | undefined {
  const found = items.flatMap((item) => find(item) ?? []);
  return found.length === 1 ? found[0] : undefined;
}
