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

/** The sorted lists of a view. They are created when they are first needed. */
interface SortedLists {
  /** By server: its list, divided into runs. Each run is sorted by public name. */
  readonly runs: ReadonlyMap<string, Runs>;
  readonly unlistedCount: number;
}

const STEPS_BETWEEN_YIELDS = 256;

/** The entries of a table that one scope sees, under their names in this scope. */
export class NameView implements Paged {
  /** By requested name: the result of `find`. Names that were not found are not cached. */
  private readonly foundEntries = new Map<string, CatalogEntry>();
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
    // The first slice may have sorted the lists already.
    return this.sortedLists ? undefined : this.preparation;
  }

  /**
   * Finds an entry by its public name, by its prefixed name, or by its own name. An own name finds nothing if several
   * servers of the view have it. A name that starts with the id of a configured server and the separator leads only to
   * that server.
   */
  find(name: string): CatalogEntry | undefined {
    let entry = this.foundEntries.get(name);
    if (!entry) {
      entry = this.lookUp(name);
      if (entry) this.foundEntries.set(name, entry);
    }
    return entry;
  }

  /**
   * The servers of the scope to which the name belongs, because it starts like their prefixed names or digest names.
   */
  ownersOf(name: string): string[] {
    const owners = new Set([...this.servers.ownersOf(name)].map(([server]) => server));
    for (const server of this.servers.digestOwnersOf(name)) owners.add(server);
    return [...owners].filter((server) => this.scope.allows(server));
  }

  /** The public names of the entries that an ambiguous name may mean; empty when it can mean at most one. */
  candidates(name: string): string[] {
    const owners = [...this.servers.ownersOf(name)];
    const defaultEntries =
      owners.length === 0
        ? this.parts.map(({ byOwnName }) => byOwnName.get(name))
        : owners.map(([server, ownName]) => this.byServer.get(server)?.byOwnName.get(ownName));
    const names = defaultEntries.flatMap((entry) => this.inScope(entry)?.publicName ?? []);
    return names.length > 1 ? names : [];
  }

  /**
   * The entry under its name in this view; undefined if the view does not list it. `defaultEntry` is the entry in the
   * table.
   */
  listedEntry(defaultEntry: CatalogEntry): ListedEntry | undefined {
    const entry = this.names.scopedEntry(defaultEntry);
    return isListed(entry) ? entry : undefined;
  }

  /** Whether the server has the entry, but this view does not list it. */
  isUnlisted(server: string, ownName: string): boolean {
    const defaultEntry = this.byServer.get(server)?.byOwnName.get(ownName);
    return defaultEntry !== undefined && !this.listedEntry(defaultEntry);
  }

  /**
   * The listed entries whose key comes after `key`, in order; only those of `server`, if given. The key of an entry is
   * its public name, except for meta tools (`META_TOOL_KEY`).
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

  /**
   * Looks for a meta tool, then for a listed entry, then for a prefixed name, then for an own name. A name that may be
   * a digest name finds only a meta tool or a listed entry.
   */
  private lookUp(name: string): CatalogEntry | undefined {
    const metaTool = this.byServer.get(META_TOOL_SERVER)?.byPublicName.get(name);
    if (metaTool) return metaTool;
    const owners = [...this.servers.ownersOf(name)];
    const digestOwners = [...this.servers.digestOwnersOf(name)];
    if (owners.length + digestOwners.length === 0) return this.findUnowned(name);
    const allowedOwners = owners.filter(([server]) => this.scope.allows(server));
    const parts = this.ownersOf(name).flatMap((server) => this.byServer.get(server) ?? []);
    const listed = onlyOne(parts, (part) => this.names.findListed(part, name));
    const mayBeDigestName = owners.length === 0 || digestOwners.some((server) => this.scope.allows(server));
    if (listed || mayBeDigestName) return listed;
    const prefixed = this.findPrefixed(allowedOwners);
    return prefixed ?? (owners.length === 1 ? this.findByOwnName(parts, name) : undefined);
  }

  /** Finds an entry by a name that does not start with the id of a configured server. */
  private findUnowned(name: string): CatalogEntry | undefined {
    const listed = onlyOne(this.parts, (part) => this.names.findListed(part, name));
    return listed ?? this.findByOwnName(this.parts, name);
  }

  /**
   * Finds an entry by its prefixed name. Returns undefined while one of the possible owners has not listed yet, or its
   * tool with this name is disabled, because the name may mean the entry of that server.
   */
  private findPrefixed(owners: readonly (readonly [string, string])[]): CatalogEntry | undefined {
    const parts = owners.map(([server, ownName]) => ({ part: this.byServer.get(server), ownName }));
    if (parts.some(({ part, ownName }) => !part || part.disabledNames.has(ownName))) return undefined;
    return onlyOne(parts, ({ part, ownName }) => this.inScope(part?.byOwnName.get(ownName)));
  }

  /** Finds an entry by its own name, if exactly one of the servers has the name. */
  private findByOwnName(parts: readonly ServerEntries[], name: string): CatalogEntry | undefined {
    return onlyOne(parts, ({ byOwnName }) => this.inScope(byOwnName.get(name)));
  }

  private inScope(defaultEntry: CatalogEntry | undefined): CatalogEntry | undefined {
    return defaultEntry && this.names.scopedEntry(defaultEntry);
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
    // Another caller may have sorted the lists in the meantime.
    this.sortedLists ??= { runs, unlistedCount };
    return this.sortedLists;
  }
}

/**
 * A run of the entries under their default names, which are sorted already, and a run of the entries with other names.
 */
function* runsOf({ listed }: ServerEntries, renamed: ReadonlyMap<CatalogEntry, CatalogEntry>): Steps<Runs> {
  if (renamed.size === 0) return [runOf(listed)];
  const withDefaultName: ListedEntry[] = [];
  const withOtherName: ListedEntry[] = [];
  for (const [index, defaultEntry] of listed.entries()) {
    if ((index + 1) % STEPS_BETWEEN_YIELDS === 0) yield;
    const entry = renamed.get(defaultEntry);
    if (!entry) withDefaultName.push(defaultEntry);
    else if (isListed(entry)) withOtherName.push(entry);
  }
  if (withDefaultName.length === listed.length) return [runOf(listed)];
  return [runOf(withDefaultName), runOf(yield* sortSteps(withOtherName, compareNames))];
}

const runOf = (items: readonly ListedEntry[]): SortedRun<ListedEntry> => ({ items, keyOf: listKeyOf });

/** Prefix of the keys of meta tools. Sorts before all public names, so that the first page has the meta tools. */
const META_TOOL_KEY = '\0';

/** The key by which lists of tools and prompts are sorted. */
export const listKeyOf = ({ server, publicName }: ListedEntry): string =>
  server === META_TOOL_SERVER ? `${META_TOOL_KEY}${publicName}` : publicName;

const compareNames = (a: ListedEntry, b: ListedEntry): number => (a.publicName < b.publicName ? -1 : 1);

const isListed = (entry: CatalogEntry): entry is ListedEntry => entry.publicName !== undefined;

/** Calls `find` for all items. Returns the result if exactly one call had a result, otherwise undefined. */
function onlyOne<Item, Found>(
  items: readonly Item[],
  find: (item: Item) => Found | undefined,
): Found | undefined {
  const found = items.flatMap((item) => find(item) ?? []);
  return found.length === 1 ? found[0] : undefined;
}
