import { Injectable } from '@nestjs/common';
import { META_TOOL_SERVER, type ListedEntry } from '../core/naming/catalog-entry.js';
import type { JsonObject } from '../lib/json-text/json-value.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { Registry } from '../registry/registry.service.js';
import type { CatalogItemDto } from './dto/catalog.dto.js';
import type { ListQuery } from './dto/list-query.dto.js';
import { ListRequests } from './list-requests.js';

interface CatalogItemsPage {
  readonly items: CatalogItemDto[];
  readonly nextCursor?: string;
}

/** Number of entries after which a search may yield to the event loop. */
const ENTRIES_PER_CHECK = 256;

/** Lists and searches tools and prompts of the catalog. Sends no request to a server. */
@Injectable()
export class CatalogLists {
  /** Search text of each entry. The next catalog contains the same objects for unchanged entries. */
  private readonly texts = new WeakMap<ListedEntry, string>();

  constructor(
    private readonly registry: Registry,
    private readonly requests: ListRequests,
  ) {}

  async page(kind: 'tools' | 'prompts', query: ListQuery): Promise<CatalogItemsPage> {
    const { scope, server, matches, q, after, limit, cursorAfter } = this.requests.parse(kind, query);
    const found: ListedEntry[] = [];
    const view = this.registry.catalog[kind].view(scope);
    await view.prepare(() => sliceScheduler.start());
    const yieldIfDue = sliceScheduler.start();
    let visited = 0;
    for (const entry of view.after(after, server)) {
      if (++visited % ENTRIES_PER_CHECK === 0) await yieldIfDue();
      if (entry.server === META_TOOL_SERVER) continue;
      if (q !== '' && !matches(this.searchTextOf(entry))) continue;
      if (found.push(entry) > limit) break;
    }
    const items = found.slice(0, limit);
    const more = found.length > limit ? { nextCursor: cursorAfter(items.at(-1)!.publicName) } : {};
    return { items: items.map(itemOf), ...more };
  }

  private searchTextOf(entry: ListedEntry): string {
    let text = this.texts.get(entry);
    if (text === undefined) {
      const { title, description } = entry.definition;
      const words = [entry.publicName, title, description].filter((part) => part !== undefined);
      text = words.join('\n').toLowerCase();
      this.texts.set(entry, text);
    }
    return text;
  }
}

const itemOf = ({ publicName, server, ownName, text }: ListedEntry): CatalogItemDto => ({
  name: publicName,
  server,
  ownName,
  own: ownName,
  definition: JSON.parse(text) as JsonObject,
});
