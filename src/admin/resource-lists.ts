import { Injectable } from '@nestjs/common';
import type { ResourceView } from '../core/resources/resource-view.js';
import {
  resourceText,
  templateText,
  type PublicResource,
  type PublicTemplate,
} from '../core/resources/public-resource.js';
import type { Scope } from '../core/scope.js';
import type { JsonObject } from '../lib/json-text/json-value.js';
import { ResourceSearch } from '../meta-tools/resource-search.js';
import { searchFieldsOf } from '../meta-tools/search-fields.js';
import { Registry } from '../registry/registry.service.js';
import { Subscribers } from '../subscriptions/subscribers.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { pageOf, type CountedPage, type Matches } from './counted-page.js';
import type { ResourceDto, ResourceTemplateDto } from './dto/catalog.dto.js';
import type { ListQuery, SessionCatalogQuery } from './dto/list-query.dto.js';
import { ListRequests, type ListRequest } from './list-requests.js';
import { MAX_RANKED, rankIn, rankKey } from './rank-position.js';
import { BoundedSortedList } from '../lib/sorted/bounded-sorted-list.js';
import { upperBound } from '../lib/sorted/binary-search.js';

interface FoundResources extends Matches<PublicResource> {
  /** The key of the cursor after an entry; its URI if not given. */
  readonly keyOf?: (entry: PublicResource) => string;
}

/** Lists and searches resources and templates of the catalog. Sends no request to a server. */
@Injectable()
export class ResourceLists {
  constructor(
    private readonly registry: Registry,
    private readonly requests: ListRequests,
    private readonly search: ResourceSearch,
    private readonly subscribers: Subscribers,
  ) {}

  async resources(query: ListQuery): Promise<CountedPage<ResourceDto>> {
    return this.resourcesOf(this.requests.parse('resources', query));
  }

  /** The resources that a session lists. `scope` is that of its requests. */
  async resourcesOfSession(
    session: string,
    scope: Scope,
    query: SessionCatalogQuery,
  ): Promise<CountedPage<ResourceDto>> {
    const request = this.requests.parse(JSON.stringify(['resources', session]), query);
    return this.resourcesOf({ ...request, scope });
  }

  async templates(query: ListQuery): Promise<CountedPage<ResourceTemplateDto>> {
    const request = this.requests.parse('resource-templates', query);
    const { server, q, matches } = request;
    const view = await this.preparedView(request);
    const matching = view.listedTemplates
      .filter(({ template }) => server === undefined || template.server === server)
      .filter((entry) => q === '' || matches(searchTextOf(entry)));
    const from = upperBound(matching, request.after, templateKey);
    const found = { entries: matching.slice(from, from + request.limit + 1), total: matching.length };
    return pageOf(found, request, templateKey, templateItem);
  }

  private async resourcesOf(request: ListRequest): Promise<CountedPage<ResourceDto>> {
    const { keyOf = ({ uri }: PublicResource): string => uri, ...found } =
      request.q === '' ? await this.listAll(request) : await this.searchPage(request);
    return pageOf(found, request, keyOf, (entry) => this.resourceItem(entry));
  }

  private resourceItem(entry: PublicResource): ResourceDto {
    const { server, uri } = entry.resource;
    return {
      uri: entry.uri,
      server,
      ownUri: uri,
      // Deprecated.
      original: uri,
      id: entry.id,
      subscribers: this.subscribers.table.countOfRecipients(server, uri),
      definition: JSON.parse(resourceText(entry)) as JsonObject,
    };
  }

  private view({ scope }: ListRequest): ResourceView {
    return this.registry.catalogOf(scope).resources.view(scope);
  }

  private async preparedView(request: ListRequest): Promise<ResourceView> {
    const view = this.view(request);
    await view.prepare(() => sliceScheduler.start());
    return view;
  }

  private async listAll(request: ListRequest): Promise<FoundResources> {
    const { after, limit, server } = request;
    const view = await this.preparedView(request);
    return { entries: [...view.after(after, limit + 1, server)], total: view.count(server) };
  }

  /**
   * Best match first, then the other matches by URI. Keeps one page and the best results in memory: a word may match a
   * million resources.
   */
  private async searchPage(request: ListRequest): Promise<FoundResources> {
    const { q, scope, server, after, limit } = request;
    const best = await this.search.search(q, { scope, server, limit: MAX_RANKED });
    const ranks = new Map(best.map((resource, rank) => [resource, rank]));
    const matching = await this.search.matching(q, scope, server);
    const view = this.view(request);
    const yieldIfDue = sliceScheduler.start();
    /** Number of ranked resources on earlier pages; undefined if these pages had all of them. */
    const shownRanked = rankIn(after);
    const ranked: (PublicResource | undefined)[] = best.map(() => undefined);
    const others = new BoundedSortedList<PublicResource>(limit + 1, ({ uri }) => uri);
    let total = 0;
    let visited = 0;
    for (const resource of matching) {
      if ((visited++ & 255) === 0) await yieldIfDue();
      const entry = view.toPublic(resource);
      if (!entry) continue;
      total++;
      const rank = ranks.get(resource);
      if (rank !== undefined) ranked[rank] = entry;
      else if (shownRanked !== undefined || entry.uri > after) others.add(entry);
    }
    const visibleRanked = ranked.filter((entry) => entry !== undefined);
    const positions = new Map(visibleRanked.map((entry, index) => [entry, index + 1]));
    return {
      entries: [...visibleRanked.slice(shownRanked ?? visibleRanked.length), ...others.items].slice(
        0,
        limit + 1,
      ),
      total,
      keyOf: (entry) => (positions.has(entry) ? rankKey(positions.get(entry)!) : entry.uri),
    };
  }
}

const searchTextOf = ({ uriTemplate, template }: PublicTemplate): string =>
  [uriTemplate, ...Object.values(searchFieldsOf(template.text))].join('\n').toLowerCase();

const templateKey = ({ uriTemplate }: PublicTemplate): string => uriTemplate;

const templateItem = (entry: PublicTemplate): ResourceTemplateDto => ({
  uriTemplate: entry.uriTemplate,
  server: entry.template.server,
  ownUri: entry.template.uriTemplate,
  // Deprecated.
  original: entry.template.uriTemplate,
  id: entry.template.id,
  definition: JSON.parse(templateText(entry)) as JsonObject,
});
