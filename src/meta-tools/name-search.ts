import { Injectable } from '@nestjs/common';
import { OwnerScope } from '../core/catalog/owner-scope.js';
import { META_TOOL_SERVER, type ListedEntry } from '../core/naming/catalog-entry.js';
import { NameTable } from '../core/naming/name-table.js';
import type { NameView } from '../core/naming/name-view.js';
import type { Scope } from '../core/scope.js';
import { matchingRanked, search, slicedSearch } from '../lib/text-index/search.js';
import { SearchIndex } from '../lib/text-index/search-index.js';
import { Registry } from '../registry/registry.service.js';
import { sliceScheduler, type Yield } from '../lib/slices/slices.js';
import { SingleFlight } from '../lib/queues/single-flight.js';
import { splitDescription, SEARCH_SCHEMA } from './search-fields.js';

/** The indexing may yield to the event loop after this number of entries. A check after every entry would be slow. */
const ENTRIES_PER_YIELD = 64;

/** Raises the scores of all entries of a server if many of them match: the query is probably about that server. */
const CONTEXT_BOOST = 1.5;

/** The entries that match a query. */
export interface Ranking {
  /** Entries that match enough of the query, best first. */
  readonly best: readonly ListedEntry[];
  /** The entries that contain every word of the query except stop words, in the same or another grammatical form. */
  readonly withEveryWord: ReadonlySet<ListedEntry>;
}

/**
 * Full-text search over tools or prompts. A change of the catalog is indexed when the next search starts: there are few
 * tools and prompts, so this takes little time.
 */
abstract class NameSearch {
  /** By server: the index of its entries under their default names, which `ServerEntries` explains. */
  private readonly indexes = new Map<string, SearchIndex<ListedEntry>>();
  /** Brings `indexes` up to date with the catalog. Concurrent searches share one run. */
  private readonly indexing = new SingleFlight(
    () => this.indexedTable === this.registry.catalog[this.kind],
    () => this.synchronize(this.registry.catalog[this.kind]),
  );
  private indexedTable = NameTable.EMPTY;
  /** By list: the index of a list that a server sent over links that are not shared (`isolation: session`). */
  private readonly ownedIndexes = new WeakMap<readonly ListedEntry[], Promise<SearchIndex<ListedEntry>>>();
  /** By server: the entries that its index contains. */
  private readonly indexedEntries = new Map<string, ReadonlySet<ListedEntry>>();

  constructor(
    private readonly registry: Registry,
    private readonly kind: 'tools' | 'prompts',
  ) {}

  /** The listed entries that match, best match first. */
  async search(query: string, scope: Scope, limit: number): Promise<ListedEntry[]> {
    const { indexes, view } = await this.indexesAndView(scope);
    // The indexes also contain entries that the scope does not list. The limit is raised by their number, because they may be
    // among the results, from which they are then removed.
    const found = search(indexes, query, {
      limit: limit + view.unlistedCount,
      contextBoost: CONTEXT_BOOST,
    });
    return listedIn(view, found).slice(0, limit);
  }

  /** The listed entries that match. `best` has at most `limit` entries. */
  async ranking(query: string, scope: Scope, limit: number): Promise<Ranking> {
    const { indexes, view } = await this.indexesAndView(scope);
    const yieldIfDue = sliceScheduler.start();
    const options = { limit: limit + view.unlistedCount, contextBoost: CONTEXT_BOOST };
    const best = listedIn(view, await slicedSearch(indexes, query, options, yieldIfDue));
    const withEveryWord = new Set<ListedEntry>();
    let visitedCount = 0;
    for (const defaultEntry of matchingRanked(indexes, query)) {
      if (++visitedCount % ENTRIES_PER_YIELD === 0) await yieldIfDue();
      const entry = view.listedEntry(defaultEntry);
      if (entry) withEveryWord.add(entry);
    }
    return { best: best.slice(0, limit), withEveryWord };
  }

  /** The up-to-date indexes of the servers in the scope, and the view that says which entries are listed. */
  private async indexesAndView(
    scope: Scope,
  ): Promise<{ indexes: SearchIndex<ListedEntry>[]; view: NameView }> {
    await this.indexing.bringUpToDate();
    const table = scope instanceof OwnerScope ? scope.catalog[this.kind] : this.indexedTable;
    const indexes = await this.indexesFor(table, scope);
    const view = table.view(scope);
    await view.prepare(() => sliceScheduler.start());
    return { indexes, view };
  }

  private async indexesFor(table: NameTable, scope: Scope): Promise<SearchIndex<ListedEntry>[]> {
    if (table === this.indexedTable)
      return [...this.indexes].flatMap(([server, index]) => (scope.allows(server) ? [index] : []));
    const indexes: SearchIndex<ListedEntry>[] = [];
    for (const server of table.listedServers) {
      if (server === META_TOOL_SERVER || !scope.allows(server)) continue;
      const listed = table.entriesOf(server);
      const isShared = listed === this.indexedTable.entriesOf(server);
      const index = isShared ? this.indexes.get(server) : await this.ownedIndex(listed);
      if (index) indexes.push(index);
    }
    return indexes;
  }

  private ownedIndex(listed: readonly ListedEntry[]): Promise<SearchIndex<ListedEntry>> {
    const index = this.ownedIndexes.get(listed) ?? buildIndex(listed);
    this.ownedIndexes.set(listed, index);
    return index;
  }

  /**
   * Updates the indexes to the entries of `table`. Successive tables share unchanged entries, which are not indexed
   * again.
   */
  private async synchronize(table: NameTable): Promise<void> {
    const yieldIfDue = sliceScheduler.start();
    for (const server of table.changedServers(this.indexedTable))
      if (server !== META_TOOL_SERVER) await this.replaceServer(server, table.entriesOf(server), yieldIfDue);
    this.indexedTable = table;
  }

  private async replaceServer(
    server: string,
    listed: Iterable<ListedEntry>,
    yieldIfDue: Yield,
  ): Promise<void> {
    const oldEntries = this.indexedEntries.get(server) ?? new Set();
    const newEntries = new Set<ListedEntry>();
    for (const entry of listed) {
      if (newEntries.size % ENTRIES_PER_YIELD === 0) await yieldIfDue();
      newEntries.add(entry);
      if (!oldEntries.has(entry)) this.add(entry);
    }
    for (const entry of oldEntries) {
      if (newEntries.has(entry)) continue;
      await yieldIfDue();
      this.remove(entry);
    }
    if (newEntries.size > 0) this.indexedEntries.set(server, newEntries);
    else this.indexedEntries.delete(server);
  }

  private add(entry: ListedEntry): void {
    const index = this.indexes.get(entry.server) ?? new SearchIndex(SEARCH_SCHEMA, byName);
    this.indexes.set(entry.server, index);
    addEntry(index, entry);
  }

  private remove(entry: ListedEntry): void {
    const index = this.indexes.get(entry.server);
    index?.remove(entry);
    if (index?.size === 0) this.indexes.delete(entry.server);
  }
}

@Injectable()
export class ToolSearch extends NameSearch {
  constructor(registry: Registry) {
    super(registry, 'tools');
  }
}

@Injectable()
export class PromptSearch extends NameSearch {
  constructor(registry: Registry) {
    super(registry, 'prompts');
  }
}

/** The found entries under their names in the view. Leaves out entries that the view does not list. */
const listedIn = (view: NameView, found: readonly ListedEntry[]): ListedEntry[] =>
  found.flatMap((defaultEntry) => view.listedEntry(defaultEntry) ?? []);

async function buildIndex(listed: readonly ListedEntry[]): Promise<SearchIndex<ListedEntry>> {
  const yieldIfDue = sliceScheduler.start();
  const index = new SearchIndex<ListedEntry>(SEARCH_SCHEMA, byName);
  for (const [position, entry] of listed.entries()) {
    if (position % ENTRIES_PER_YIELD === 0) await yieldIfDue();
    addEntry(index, entry);
  }
  return index;
}

function addEntry(index: SearchIndex<ListedEntry>, entry: ListedEntry): void {
  const { server, ownName: name, definition } = entry;
  index.add(entry, { name, server, title: definition.title, ...splitDescription(definition.description) });
}

const byName = (a: ListedEntry, b: ListedEntry): number => (a.publicName < b.publicName ? -1 : 1);
