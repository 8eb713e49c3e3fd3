import { Injectable } from '@nestjs/common';
import { SessionScope } from '../core/catalog/session-scope.js';
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

/** Number of entries after which the job may yield to the event loop. Checking after every entry would be slow. */
const ENTRIES_PER_CHECK = 64;

/** Boost for all tools of a server, if many of them have the terms of the query: they belong to one subject. */
const CONTEXT_BOOST = 1.5;

/** How well entries match a query. */
export interface Ranking {
  /** Entries that match enough of the query, best first. */
  readonly best: readonly ListedEntry[];
  /** The entries that contain every word of the query, or another form of it. Stop words do not count. */
  readonly withEveryWord: ReadonlySet<ListedEntry>;
}

/** Full-text search over tools or prompts. A change of the catalog is indexed at the next search, because they are few. */
abstract class NameSearch {
  /** By server: its entries under their usual names. */
  private readonly indexes = new Map<string, SearchIndex<ListedEntry>>();
  private readonly indexing = new SingleFlight(
    () => this.indexedTable === this.registry.catalog[this.kind],
    () => this.synchronize(this.registry.catalog[this.kind]),
  );
  private indexedTable = NameTable.EMPTY;
  /** By list: the index of a list that only some sessions have. */
  private readonly sessionIndexes = new WeakMap<readonly ListedEntry[], Promise<SearchIndex<ListedEntry>>>();
  /** By server: the entries that its index contains. */
  private readonly indexedEntries = new Map<string, ReadonlySet<ListedEntry>>();

  constructor(
    private readonly registry: Registry,
    private readonly kind: 'tools' | 'prompts',
  ) {}

  /** Best match first. */
  async search(query: string, scope: Scope, limit: number): Promise<ListedEntry[]> {
    const { indexes, view } = await this.open(scope);
    // Entries that the scope does not list are indexed too, and must not displace listed ones from the results.
    const found = search(indexes, query, {
      limit: limit + view.unlistedCount,
      contextBoost: CONTEXT_BOOST,
    });
    return listedIn(view, found).slice(0, limit);
  }

  /** Ranks at most `limit` entries. */
  async ranking(query: string, scope: Scope, limit: number): Promise<Ranking> {
    const { indexes, view } = await this.open(scope);
    const yieldIfDue = sliceScheduler.start();
    const options = { limit: limit + view.unlistedCount, contextBoost: CONTEXT_BOOST };
    const best = listedIn(view, await slicedSearch(indexes, query, options, yieldIfDue));
    const withEveryWord = new Set<ListedEntry>();
    let visited = 0;
    for (const usual of matchingRanked(indexes, query)) {
      if (++visited % ENTRIES_PER_CHECK === 0) await yieldIfDue();
      const entry = view.listedEntry(usual);
      if (entry) withEveryWord.add(entry);
    }
    return { best: best.slice(0, limit), withEveryWord };
  }

  private async open(scope: Scope): Promise<{ indexes: SearchIndex<ListedEntry>[]; view: NameView }> {
    await this.indexing.bringUpToDate();
    const table = scope instanceof SessionScope ? scope.catalog[this.kind] : this.indexedTable;
    const indexes = await this.indexesFor(table, scope);
    const view = table.view(scope);
    await view.prepare(() => sliceScheduler.start());
    return { indexes, view };
  }

  private async indexesFor(table: NameTable, scope: Scope): Promise<SearchIndex<ListedEntry>[]> {
    if (table === this.indexedTable)
      return [...this.indexes].flatMap(([server, index]) => (scope.allows(server) ? [index] : []));
    const found: SearchIndex<ListedEntry>[] = [];
    for (const server of table.listedServers) {
      if (server === META_TOOL_SERVER || !scope.allows(server)) continue;
      const listed = table.entriesOf(server);
      const isShared = listed === this.indexedTable.entriesOf(server);
      const index = isShared ? this.indexes.get(server) : await this.sessionIndex(listed);
      if (index) found.push(index);
    }
    return found;
  }

  private sessionIndex(listed: readonly ListedEntry[]): Promise<SearchIndex<ListedEntry>> {
    const index = this.sessionIndexes.get(listed) ?? buildIndex(listed);
    this.sessionIndexes.set(listed, index);
    return index;
  }

  /** Catalogs share unchanged entries, so that only changed ones are indexed again. */
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
    const before = this.indexedEntries.get(server) ?? new Set();
    const now = new Set<ListedEntry>();
    for (const entry of listed) {
      if (now.size % ENTRIES_PER_CHECK === 0) await yieldIfDue();
      now.add(entry);
      if (!before.has(entry)) this.add(entry);
    }
    for (const entry of before) {
      if (now.has(entry)) continue;
      await yieldIfDue();
      this.remove(entry);
    }
    if (now.size > 0) this.indexedEntries.set(server, now);
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

/** The entries as the view lists them, without those that it does not list. */
const listedIn = (view: NameView, found: readonly ListedEntry[]): ListedEntry[] =>
  found.flatMap((usual) => view.listedEntry(usual) ?? []);

async function buildIndex(listed: readonly ListedEntry[]): Promise<SearchIndex<ListedEntry>> {
  const yieldIfDue = sliceScheduler.start();
  const index = new SearchIndex<ListedEntry>(SEARCH_SCHEMA, byName);
  for (const [position, entry] of listed.entries()) {
    if (position % ENTRIES_PER_CHECK === 0) await yieldIfDue();
    addEntry(index, entry);
  }
  return index;
}

function addEntry(index: SearchIndex<ListedEntry>, entry: ListedEntry): void {
  const { server, ownName: name, definition } = entry;
  index.add(entry, { name, server, title: definition.title, ...splitDescription(definition.description) });
}

const byName = (a: ListedEntry, b: ListedEntry): number => (a.publicName < b.publicName ? -1 : 1);
