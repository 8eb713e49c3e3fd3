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
import { countInKey, countKey, MAX_RANKED } from './search-page-key.js';
import { toolOrigin } from './tool-origin.js';

type Kind = 'tools' | 'prompts';

interface CatalogItemsPage<Item> {
  readonly items: Item[];
  readonly nextCursor?: string;
}

interface FoundEntries {
  /** The entries of one page, and then the first entry of the next page if there is one. */
  readonly entries: readonly ListedEntry[];
  /** The cursor key of a page that starts after the entry at this index. */
  readonly keyAfter: (index: number) => string;
}

/** Number of entries after which a list or search may yield to the event loop. */
const ENTRIES_PER_CHECK = 256;

/** Lists and searches tools and prompts of the catalog. Sends no request to a server. */
@Injectable()
export class CatalogLists {
  /** Cache of the search texts. An unchanged entry is the same object in the next catalog, so its text stays valid. */
  private readonly searchTexts = new WeakMap<ListedEntry, string>();

  constructor(
    private readonly registry: Registry,
    private readonly requests: ListRequests,
    private readonly toolSearch: ToolSearch,
    private readonly promptSearch: PromptSearch,
    private readonly review: DecisionReview,
  ) {}

  /** The tools of servers, without meta tools. */
  tools(query: ListQuery): Promise<CatalogItemsPage<ToolDto>> {
    return this.pageOf('tools', this.requests.parse('tools', query), isNoMetaTool, this.toolOf);
  }

  prompts(query: ListQuery): Promise<CatalogItemsPage<CatalogItemDto>> {
    return this.pageOf('prompts', this.requests.parse('prompts', query), isNoMetaTool, itemOf);
  }

  /** The tools that a session lists, meta tools included. `scope` is the scope of its requests. */
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
    const { entries, keyAfter } =
      q === ''
        ? await this.list(view, request, isIncluded)
        : await this.search(kind, view, request, isIncluded);
    const more = entries.length > limit ? { nextCursor: cursorAfter(keyAfter(limit - 1)) } : {};
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
      visited++;
      if (visited % ENTRIES_PER_CHECK === 0) await yieldIfDue();
      if (!isIncluded(entry)) continue;
      entries.push(entry);
      if (entries.length > limit) break;
    }
    return { entries, keyAfter: (index) => listKeyOf(entries[index]!) };
  }

  /**
   * The ranked matches come first, best match first. The matches without a rank follow in the order of their names. A match
   * has no rank, for example, if it contains a word of the query only as a part of a longer word.
   */
  private async search(
    kind: Kind,
    view: NameView,
    { scope, server, q, matches, after, limit }: ListRequest,
    isIncluded: (entry: ListedEntry) => boolean,
  ): Promise<FoundEntries> {
    const search = kind === 'tools' ? this.toolSearch : this.promptSearch;
    const { best, withEveryWord } = await search.ranking(q, scope, MAX_RANKED);
    const matching = new Set<ListedEntry>();
    const yieldIfDue = sliceScheduler.start();
    let visited = 0;
    for (const entry of view.after('', server)) {
      visited++;
      if (visited % ENTRIES_PER_CHECK === 0) await yieldIfDue();
      if (!isIncluded(entry)) continue;
      if (withEveryWord.has(entry) || matches(this.searchTextOf(entry))) matching.add(entry);
    }
    const ranked = best.filter((entry) => matching.has(entry));
    // A set has each entry once, at its first position: a ranked entry is not repeated among the others.
    const ordered = [...new Set([...ranked, ...matching])];
    const shownCount = countInKey(after) ?? 0;
    const entries = ordered.slice(shownCount, shownCount + limit + 1);
    return { entries, keyAfter: (index) => countKey(shownCount + index + 1) };
  }

  private searchTextOf(entry: ListedEntry): string {
    let text = this.searchTexts.get(entry);
    if (text === undefined) {
      const { title, description } = entry.definition;
      const parts = [entry.publicName, title, description].filter((part) => part !== undefined);
      text = parts.join('\n').toLowerCase();
      this.searchTexts.set(entry, text);
    }
    return text;
  }
}

const isNoMetaTool = ({ server }: ListedEntry): boolean => server !== META_TOOL_SERVER;

const itemOf = ({ publicName, server, ownName, text }: ListedEntry): CatalogItemDto => ({
  name: publicName,
  server: server === META_TOOL_SERVER ? GATEWAY_NAME : server,
  ownName,
  // Deprecated in the DTO, but still sent.
  own: ownName,
  definition: JSON.parse(text) as JsonObject,
});
