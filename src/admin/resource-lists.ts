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
import { pageOf, type CountedPage, type Matches } from './counted-page.js';
import type { ResourceDto, ResourceTemplateDto } from './dto/catalog.dto.js';
import type { ListQuery } from './dto/list-query.dto.js';
import { ListRequests, type ListRequest } from './list-requests.js';
import { BoundedSortedList } from '../lib/sorted/bounded-sorted-list.js';
import { upperBound } from '../lib/sorted/binary-search.js';

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
    const found = request.q === '' ? await this.listAll(request) : await this.searchPage(request);
    return pageOf(
      found,
      request,
      ({ uri }) => uri,
      (entry) => this.resourceItem(entry),
    );
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

  private resourceItem(entry: PublicResource): ResourceDto {
    const { server, uri } = entry.resource;
    return {
      uri: entry.uri,
      server,
      ownUri: uri,
      original: uri,
      id: entry.id,
      subscribers: this.subscribers.table.countOfRecipients(server, uri),
      definition: JSON.parse(resourceText(entry)) as JsonObject,
    };
  }

  private view({ scope }: ListRequest): ResourceView {
    return this.registry.catalog.resources.view(scope);
  }

  private async preparedView(request: ListRequest): Promise<ResourceView> {
    const view = this.view(request);
    await view.prepare(() => sliceScheduler.start());
    return view;
  }

  private async listAll(request: ListRequest): Promise<Matches<PublicResource>> {
    const { after, limit, server } = request;
    const view = await this.preparedView(request);
    return { entries: [...view.after(after, limit + 1, server)], total: view.count(server) };
  }

  /** Keeps only one page in memory: a word may match a million resources. */
  private async searchPage(request: ListRequest): Promise<Matches<PublicResource>> {
    const { q, scope, server, after, limit } = request;
    const matching = await this.search.matching(q, scope);
    const view = this.view(request);
    const yieldIfDue = sliceScheduler.start();
    const found = new BoundedSortedList<PublicResource>(limit + 1, ({ uri }) => uri);
    let total = 0;
    let visited = 0;
    for (const resource of matching) {
      if ((visited++ & 255) === 0) await yieldIfDue();
      if (server !== undefined && resource.server !== server) continue;
      const entry = view.toPublic(resource);
      if (!entry) continue;
      total++;
      if (entry.uri > after) found.add(entry);
    }
    return { entries: found.items, total };
  }
}

const searchTextOf = ({ uriTemplate, template }: PublicTemplate): string =>
  [uriTemplate, ...Object.values(searchFieldsOf(template.text))].join('\n').toLowerCase();

const templateKey = ({ uriTemplate }: PublicTemplate): string => uriTemplate;

const templateItem = (entry: PublicTemplate): ResourceTemplateDto => ({
  uriTemplate: entry.uriTemplate,
  server: entry.template.server,
  ownUri: entry.template.uriTemplate,
  original: entry.template.uriTemplate,
  id: entry.template.id,
  definition: JSON.parse(templateText(entry)) as JsonObject,
});
