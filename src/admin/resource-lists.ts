import { Injectable } from '@nestjs/common';
import type { ResourceView } from '../core/resources/resource-view.js';
import {
  resourceText,
  templateText,
  type PublicResource,
  type PublicTemplate,
} from '../core/resources/public-resource.js';
import type { JsonObject } from '../lib/json-text/json-value.js';
import { ResourceSearch } from '../meta-tools/resource-search.js';
import { searchFieldsOf } from '../meta-tools/search-fields.js';
import { Registry } from '../registry/registry.service.js';
import { Subscribers } from '../subscriptions/subscribers.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import type { ResourceDto, ResourceTemplateDto } from './dto/catalog.dto.js';
import type { ListQuery } from './dto/list-query.dto.js';
import { ListRequests, type ListRequest } from './list-requests.js';
import { BoundedSortedList } from '../lib/sorted/bounded-sorted-list.js';
import { upperBound } from '../lib/sorted/binary-search.js';

export interface CountedPage<Item> {
  readonly items: Item[];
  readonly nextCursor?: string;
  /** Items on all pages. */
  readonly total: number;
}

/** One page of matches in order, plus one entry of the next page, and the number of all matches. */
interface Found<Seen> {
  readonly seen: readonly Seen[];
  readonly total: number;
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
    const request = this.requests.parse('resources', query);
    const found = request.q === '' ? this.inOrder(request) : await this.matching(request);
    return pageOf(
      found,
      request,
      ({ uri }) => uri,
      (seen) => this.itemOf(seen),
    );
  }

  templates(query: ListQuery): CountedPage<ResourceTemplateDto> {
    const request = this.requests.parse('resource-templates', query);
    const { server, q, matches } = request;
    const matching = this.view(request)
      .listedTemplates.filter(({ template }) => server === undefined || template.server === server)
      .filter((seen) => q === '' || matches(textOf(seen)));
    const from = upperBound(matching, request.after, keyOf);
    const found = { seen: matching.slice(from, from + request.limit + 1), total: matching.length };
    return pageOf(found, request, keyOf, templateItem);
  }

  private itemOf(seen: PublicResource): ResourceDto {
    const { server, uri } = seen.resource;
    return {
      uri: seen.uri,
      server,
      ownUri: uri,
      original: uri,
      id: seen.id,
      subscribers: this.subscribers.table.countOfRecipients(server, uri),
      definition: JSON.parse(resourceText(seen)) as JsonObject,
    };
  }

  private view({ scope }: ListRequest): ResourceView {
    return this.registry.catalog.resources.view(scope);
  }

  private inOrder(request: ListRequest): Found<PublicResource> {
    const { after, limit, server } = request;
    const view = this.view(request);
    return { seen: [...view.after(after, limit + 1, server)], total: view.sizeOf(server) };
  }

  /** Keeps only one page in memory: a word may match a million resources. */
  private async matching(request: ListRequest): Promise<Found<PublicResource>> {
    const { q, scope, server, after, limit } = request;
    const matching = await this.search.matching(q, scope);
    const view = this.view(request);
    const yieldIfDue = sliceScheduler.start();
    const found = new BoundedSortedList<PublicResource>(limit + 1, (seen) => seen.uri);
    let total = 0;
    let looked = 0;
    for (const resource of matching) {
      if ((looked++ & 255) === 0) await yieldIfDue();
      if (server !== undefined && resource.server !== server) continue;
      const seen = view.toPublic(resource);
      if (!seen) continue;
      total++;
      if (seen.uri > after) found.add(seen);
    }
    return { seen: found.items, total };
  }
}

function pageOf<Seen, Item>(
  { seen, total }: Found<Seen>,
  { limit, cursorAfter }: ListRequest,
  key: (seen: Seen) => string,
  itemOf: (seen: Seen) => Item,
): CountedPage<Item> {
  const shown = seen.slice(0, limit);
  const more = seen.length > limit ? { nextCursor: cursorAfter(key(shown.at(-1)!)) } : {};
  return { items: shown.map(itemOf), ...more, total };
}

const textOf = ({ uriTemplate, template }: PublicTemplate): string =>
  [uriTemplate, ...Object.values(searchFieldsOf(template.text))].join('\n').toLowerCase();

const keyOf = ({ uriTemplate }: PublicTemplate): string => uriTemplate;

const templateItem = (seen: PublicTemplate): ResourceTemplateDto => ({
  uriTemplate: seen.uriTemplate,
  server: seen.template.server,
  ownUri: seen.template.uriTemplate,
  original: seen.template.uriTemplate,
  id: seen.template.id,
  definition: JSON.parse(templateText(seen)) as JsonObject,
});
