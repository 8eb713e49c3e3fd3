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
import { countInKey, countKey, MAX_RANKED } from './search-page-key.js';
import { BoundedSortedList } from '../lib/sorted/bounded-sorted-list.js';
import { upperBound } from '../lib/sorted/binary-search.js';

interface FoundResources extends Matches<PublicResource> {
  /** The cursor key of a page that starts after this entry. */
  readonly keyOf: (entry: PublicResource) => string;
}

/** The matches of a search that the requested page may contain. */
interface SortedMatches {
  /** The matches that are ranked by relevance, best match first. */
  readonly ranked: readonly PublicResource[];
  /** The first matches without a rank that no previous page contained, in the order of their URIs. At most `limit + 1`. */
  readonly others: readonly PublicResource[];
  readonly total: number;
}

/** Number of resources after which a search may yield to the event loop. */
const RESOURCES_PER_CHECK = 256;

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

  /** The resources that a session lists. `scope` is the scope of its requests. */
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
    const found = request.q === '' ? await this.listPage(request) : await this.searchPage(request);
    return pageOf(found, request, found.keyOf, (entry) => this.resourceItem(entry));
  }

  private resourceItem(entry: PublicResource): ResourceDto {
    const { server, uri } = entry.resource;
    return {
      uri: entry.uri,
      server,
      ownUri: uri,
      // Deprecated in the DTO, but still sent.
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

  private async listPage(request: ListRequest): Promise<FoundResources> {
    const { after, limit, server } = request;
    const view = await this.preparedView(request);
    return {
      entries: [...view.after(after, limit + 1, server)],
      total: view.count(server),
      keyOf: ({ uri }) => uri,
    };
  }

  /** The ranked matches come first, best match first. The other matches follow in the order of their URIs. */
  private async searchPage(request: ListRequest): Promise<FoundResources> {
    const { ranked, others, total } = await this.sortedMatches(request);
    // If the key is a URI, the previous pages contained all ranked matches.
    const shownRanked = countInKey(request.after) ?? ranked.length;
    /** For each ranked match, the number of ranked matches up to and including it. */
    const countsUpTo = new Map(ranked.map((entry, index) => [entry, index + 1]));
    return {
      entries: [...ranked.slice(shownRanked), ...others].slice(0, request.limit + 1),
      total,
      keyOf: (entry) => {
        const count = countsUpTo.get(entry);
        return count === undefined ? entry.uri : countKey(count);
      },
    };
  }

  /** Keeps only the ranked matches and one page of the others in memory: a word may match a million resources. */
  private async sortedMatches(request: ListRequest): Promise<SortedMatches> {
    const { q, scope, server, after, limit } = request;
    const best = await this.search.search(q, { scope, server, limit: MAX_RANKED });
    const ranks = new Map(best.map((resource, rank) => [resource, rank]));
    const matching = await this.search.matching(q, scope, server);
    const view = this.view(request);
    const yieldIfDue = sliceScheduler.start();
    const byRank: (PublicResource | undefined)[] = best.map(() => undefined);
    const others = new BoundedSortedList<PublicResource>(limit + 1, ({ uri }) => uri);
    const lastShownUri = countInKey(after) === undefined ? after : '';
    let total = 0;
    let visited = 0;
    for (const resource of matching) {
      if (visited % RESOURCES_PER_CHECK === 0) await yieldIfDue();
      visited++;
      const entry = view.toPublic(resource);
      if (!entry) continue;
      total++;
      const rank = ranks.get(resource);
      if (rank !== undefined) byRank[rank] = entry;
      else if (entry.uri > lastShownUri) others.add(entry);
    }
    return { ranked: byRank.filter((entry) => entry !== undefined), others: others.items, total };
  }
}

const searchTextOf = ({ uriTemplate, template }: PublicTemplate): string =>
  [uriTemplate, ...Object.values(searchFieldsOf(template.text))].join('\n').toLowerCase();

const templateKey = ({ uriTemplate }: PublicTemplate): string => uriTemplate;

const templateItem = (entry: PublicTemplate): ResourceTemplateDto => ({
  uriTemplate: entry.uriTemplate,
  server: entry.template.server,
  ownUri: entry.template.uriTemplate,
  // Deprecated in the DTO, but still sent.
  original: entry.template.uriTemplate,
  id: entry.template.id,
  definition: JSON.parse(templateText(entry)) as JsonObject,
});
