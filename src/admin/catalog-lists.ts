import { Injectable } from '@nestjs/common';
import { DecisionReview } from '../decisions/decision-review.js';
import { GATEWAY_NAME, META_TOOL_SERVER, type ListedEntry } from '../core/naming/catalog-entry.js';
import { listKeyOf, type NameView } from '../core/naming/name-view.js';
import type { Scope } from '../core/scope.js';
import type { JsonObject } from '../lib/json-text/json-value.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { PromptSearch, ToolSearch } from '../meta-tools/name-search.js';
import { Registry } from '../registry/registry.service.js';
import type { CatalogItemDto, ToolDto } from './dto/catalog.dto.js';
import type { ListQuery, SessionCatalogQuery } from './dto/list-query.dto.js';
import { ListRequests, type ListRequest } from './list-requests.js';
import { MAX_RANKED, rankIn, rankKey } from './rank-position.js';
import { toolOrigin } from './tool-origin.js';

type Kind = 'tools' | 'prompts';

interface CatalogItemsPage<Item> {
  readonly items: Item[];
  readonly nextCursor?: string;
}

/** Entries of a page, plus one if there is a next page. */
interface FoundEntries {
  readonly entries: readonly ListedEntry[];
  /** The key of the cursor to the page after the entry at this index. */
  readonly keyAt: (index: number) => string;
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
    private readonly toolSearch: ToolSearch,
    private readonly promptSearch: PromptSearch,
    private readonly review: DecisionReview,
  ) {}

  /** The tools of servers, without meta tools. */
  tools(query: ListQuery): Promise<CatalogItemsPage<ToolDto>> {
    return this.pageOf('tools', this.requests.parse('tools', query), isOfServer, this.toolOf);
  }

  prompts(query: ListQuery): Promise<CatalogItemsPage<CatalogItemDto>> {
    return this.pageOf('prompts', this.requests.parse('prompts', query), isOfServer, itemOf);
  }

  /** The tools that a session lists, meta tools included. `scope` is that of its requests. */
  async toolsOfSession(
    session: string,
    scope: Scope,
    query: SessionCatalogQuery,
  ): Promise<CatalogItemsPage<ToolDto>> {
    const request = this.requests.parse(JSON.stringify(['tools', session]), query);
    return this.pageOf('tools', { ...request, scope }, () => true, this.toolOf);
  }

  private readonly toolOf = (entry: ListedEntry): ToolDto =>
    Object.assign(itemOf(entry), toolOrigin(this.review.ofTool(entry.server, entry.ownName)));

  private async pageOf<Item>(
    kind: Kind,
    request: ListRequest,
    isIncluded: (entry: ListedEntry) => boolean,
    toItem: (entry: ListedEntry) => Item,
  ): Promise<CatalogItemsPage<Item>> {
    const { scope, q, limit, cursorAfter } = request;
    const view = this.registry.catalogOf(scope)[kind].view(scope);
    await view.prepare(() => sliceScheduler.start());
    const { entries, keyAt } =
      q === ''
        ? await this.list(view, request, isIncluded)
        : await this.search(kind, view, request, isIncluded);
    const more = entries.length > limit ? { nextCursor: cursorAfter(keyAt(limit - 1)) } : {};
    return { items: entries.slice(0, limit).map(toItem), ...more };
  }

  private async list(
    view: NameView,
    { after, server, limit }: ListRequest,
    isIncluded: (entry: ListedEntry) => boolean,
  ): Promise<FoundEntries> {
    const entries: ListedEntry[] = [];
    const yieldIfDue = sliceScheduler.start();
    let visited = 0;
    for (const entry of view.after(after, server)) {
      if (++visited % ENTRIES_PER_CHECK === 0) await yieldIfDue();
      if (isIncluded(entry) && entries.push(entry) > limit) break;
    }
    return { entries, keyAt: (index) => listKeyOf(entries[index]!) };
  }

  /**
   * Best match first. Then, by name, the entries that match without a rank: for example, those that contain a word of the
   * query only as a part of a longer word.
   */
  private async search(
    kind: Kind,
    view: NameView,
    { scope, server, q, matches, after, limit }: ListRequest,
    isIncluded: (entry: ListedEntry) => boolean,
  ): Promise<FoundEntries> {
    const index = kind === 'tools' ? this.toolSearch : this.promptSearch;
    const { best, withEveryWord } = await index.ranking(q, scope, MAX_RANKED);
    const found = new Set<ListedEntry>();
    const yieldIfDue = sliceScheduler.start();
    let visited = 0;
    for (const entry of view.after('', server)) {
      if (++visited % ENTRIES_PER_CHECK === 0) await yieldIfDue();
      if (!isIncluded(entry)) continue;
      if (withEveryWord.has(entry) || matches(this.searchTextOf(entry))) found.add(entry);
    }
    const ranked = best.filter((entry) => found.delete(entry));
    const shownCount = rankIn(after) ?? 0;
    const entries = [...ranked, ...found].slice(shownCount, shownCount + limit + 1);
    return { entries, keyAt: (position) => rankKey(shownCount + position + 1) };
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

const isOfServer = ({ server }: ListedEntry): boolean => server !== META_TOOL_SERVER;

const itemOf = ({ publicName, server, ownName, text }: ListedEntry): CatalogItemDto => ({
  name: publicName,
  server: server === META_TOOL_SERVER ? GATEWAY_NAME : server,
  ownName,
  // Deprecated in the DTO, but still sent.
  own: ownName,
  definition: JSON.parse(text) as JsonObject,
});
