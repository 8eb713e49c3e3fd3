import { Injectable } from '@nestjs/common';
import { HOUSE, type ListedEntry, type NameTable } from '../core/name-table.js';
import { EVERYTHING, type Scope } from '../core/scope.js';
import { search } from '../core/search/search.js';
import { SearchIndex } from '../core/search/search-index.js';
import { Registry } from '../registry/registry.service.js';
import { fieldsOf } from './search-fields.js';

/** Full-text search in the tools, brought up to date when somebody searches: there are never very many. */
@Injectable()
export class ToolSearch {
  private readonly indexes = new Map<string, SearchIndex<ListedEntry>>();
  private indexed: ReadonlySet<ListedEntry> = new Set();
  private table: NameTable | undefined;

  constructor(private readonly registry: Registry) {}

  search(query: string, scope: Scope, limit: number): ListedEntry[] {
    this.update();
    const indexes = [...this.indexes].flatMap(([server, index]) => (scope.allows(server) ? [index] : []));
    return search(indexes, query, { limit });
  }

  /** Entries are kept from one catalog to the next, so only what changed is touched. */
  private update(): void {
    const { tools } = this.registry.catalog;
    if (tools === this.table) return;
    this.table = tools;
    const listed = new Set(tools.view(EVERYTHING).listed.filter(({ server }) => server !== HOUSE));
    for (const entry of this.indexed) if (!listed.has(entry)) this.indexes.get(entry.server)!.remove(entry);
    for (const entry of listed) if (!this.indexed.has(entry)) this.add(entry);
    for (const [server, index] of this.indexes) if (index.size === 0) this.indexes.delete(server);
    this.indexed = listed;
  }

  private add(entry: ListedEntry): void {
    let index = this.indexes.get(entry.server);
    if (!index) this.indexes.set(entry.server, (index = new SearchIndex(byName)));
    index.add(entry, { ...fieldsOf(entry.definition.text), name: entry.name });
  }
}

const byName = (a: ListedEntry, b: ListedEntry): number => (a.name < b.name ? -1 : 1);
