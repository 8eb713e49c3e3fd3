import { Injectable } from '@nestjs/common';
import { META_TOOL_SERVER, type ListedEntry } from '../core/naming/catalog-entry.js';
import { Registry } from '../registry/registry.service.js';
import { wordMatcher } from './word-matcher.js';
import type { CatalogItemDto } from './dto/catalog.dto.js';
import type { ListQuery } from './dto/list-query.dto.js';
import { ListRequests } from './list-requests.js';
import type { PlainObject } from './plain-object.js';

export interface CatalogItemsPage {
  readonly items: CatalogItemDto[];
  readonly nextCursor?: string;
}

/** Searches the tools and prompts that servers offer, in memory: no server is asked. */
@Injectable()
export class CatalogLists {
  /** Entries are kept from one catalog to the next, and so is what was read out of them. */
  private readonly texts = new WeakMap<ListedEntry, string>();

  constructor(
    private readonly registry: Registry,
    private readonly requests: ListRequests,
  ) {}

  page(kind: 'tools' | 'prompts', query: ListQuery): CatalogItemsPage {
    const { scope, server, q, after, limit, seal } = this.requests.read(kind, query);
    const isFound = wordMatcher(q);
    const found: ListedEntry[] = [];
    for (const entry of this.registry.catalog[kind].view(scope).after(after, server)) {
      if (entry.server === META_TOOL_SERVER || !(q === '' || isFound(this.textOf(entry)))) continue;
      if (found.push(entry) > limit) break;
    }
    const items = found.slice(0, limit);
    const more = found.length > limit ? { nextCursor: seal(items.at(-1)!.publicName) } : {};
    return { items: items.map(itemOf), ...more };
  }

  private textOf(entry: ListedEntry): string {
    let text = this.texts.get(entry);
    if (text === undefined) {
      const { title, description } = JSON.parse(entry.text) as PlainObject;
      const words = [entry.publicName, title, description].filter((part) => typeof part === 'string');
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
  definition: JSON.parse(text) as PlainObject,
});
