import { Injectable } from '@nestjs/common';
import { META_TOOL_SERVER, NameTable, type ListedEntry } from '../core/naming/name-table.js';
import { EVERYTHING, type Scope } from '../core/scope.js';
import { search } from '../lib/text-index/search.js';
import { SearchIndex } from '../lib/text-index/search-index.js';
import { Registry } from '../registry/registry.service.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { SingleFlight } from '../lib/queues/single-flight.js';
import { searchFieldsOf, SEARCH_SCHEMA } from './search-fields.js';

/** Full-text search over tools. The index is updated at the next search: there are far fewer tools than resources. */
@Injectable()
export class ToolSearch {
  private readonly indexes = new Map<string, SearchIndex<ListedEntry>>();
  private readonly indexing = new SingleFlight(
    () => this.table === this.registry.catalog.tools,
    () => this.synchronize(this.registry.catalog.tools),
  );
  private table = NameTable.EMPTY;
  private indexed: ReadonlySet<ListedEntry> = new Set();

  constructor(private readonly registry: Registry) {}

  /** Best match first. */
  async search(query: string, scope: Scope, limit: number): Promise<ListedEntry[]> {
    await this.indexing.bringUpToDate();
    const indexes = [...this.indexes].flatMap(([server, index]) => (scope.allows(server) ? [index] : []));
    return search(indexes, query, { limit });
  }

  /** Catalogs share unchanged entries, so that only changed ones are indexed again. */
  private async synchronize(table: NameTable): Promise<void> {
    const yieldIfDue = sliceScheduler.start();
    const listed = new Set(table.view(EVERYTHING).listed.filter(({ server }) => server !== META_TOOL_SERVER));
    for (const entry of this.indexed) {
      if (listed.has(entry)) continue;
      await yieldIfDue();
      this.remove(entry);
    }
    for (const entry of listed) {
      if (this.indexed.has(entry)) continue;
      await yieldIfDue();
      this.add(entry);
    }
    this.indexed = listed;
    this.table = table;
  }

  private add(entry: ListedEntry): void {
    const index = this.indexes.get(entry.server) ?? new SearchIndex(SEARCH_SCHEMA, byName);
    this.indexes.set(entry.server, index);
    index.add(entry, { ...searchFieldsOf(entry.definition.text), name: entry.publicName });
  }

  private remove(entry: ListedEntry): void {
    const index = this.indexes.get(entry.server);
    index?.remove(entry);
    if (index?.size === 0) this.indexes.delete(entry.server);
  }
}

const byName = (a: ListedEntry, b: ListedEntry): number => (a.publicName < b.publicName ? -1 : 1);
