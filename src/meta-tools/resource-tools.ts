import { resourceNotFound } from '../core/errors.js';
import type { Scope } from '../core/scope.js';
import type { MetaTool } from '../registry/meta-tools.js';
import type { Registry } from '../registry/registry.service.js';
import { resourceCard, templateCard, wholeResource, wholeTemplate } from './cards.js';
import { CatalogCursors } from './catalog-cursors.js';
import { metaTool } from './meta-tool.js';
import type { ResourceSearch } from './resource-search.js';
import {
  CURSOR,
  LIMIT,
  NEXT_CURSOR,
  pageLimit,
  QUERY,
  RESOURCE_CARDS,
  SERVER_ID,
  TEMPLATE_CARDS,
} from './schemas.js';
import { ArgumentError, type ToolArguments } from './tool-arguments.js';

/** Tools with which an agent finds the resource it needs without listing them all. */
export function resourceTools(registry: Registry, search: ResourceSearch, pageSize: number): MetaTool[] {
  const cursors = new CatalogCursors(pageSize);
  const view = (scope: Scope) => registry.catalog.resources.view(scope);

  function catalogResources(args: ToolArguments, scope: Scope): object {
    const { cards, more } = cursors.page(
      'catalog_resources',
      scope,
      args,
      (after, most) => view(scope).after(after, most, args.serverId),
      ({ uri }) => uri,
      resourceCard,
    );
    return { resources: cards, ...more };
  }

  function catalogTemplates(args: ToolArguments, scope: Scope): object {
    const { serverId } = args;
    const listed = view(scope).listedTemplates.filter(
      ({ template }) => serverId === undefined || template.server === serverId,
    );
    const { cards, more } = cursors.page(
      'catalog_resource_templates',
      scope,
      args,
      (after, most) => listed.filter(({ uriTemplate }) => uriTemplate > after).slice(0, most),
      ({ uriTemplate }) => uriTemplate,
      templateCard,
    );
    return { resourceTemplates: cards, ...more };
  }

  function describeResource(args: ToolArguments, scope: Scope): object {
    const { uri } = args;
    const found = view(scope).find(uri);
    const resource = found?.resource && view(scope).seen(found.resource);
    if (resource) return { resource: wholeResource(resource) };
    const template = found?.template ?? view(scope).findTemplate(uri);
    const seen = view(scope).listedTemplates.find((listed) => listed.template === template);
    if (!seen) throw new ArgumentError(resourceNotFound(uri).message);
    return { resourceTemplate: wholeTemplate(seen) };
  }

  async function searchResources(args: ToolArguments, scope: Scope): Promise<object> {
    const { query, mimeType, limit } = args;
    const found = await search.search(query, { scope, mimeType, limit });
    // While the search waited, one or the other may have gone.
    const seen = found.flatMap((resource) => view(scope).seen(resource) ?? []);
    return { resources: seen.map(resourceCard) };
  }

  return [
    metaTool({
      name: 'catalog_resources',
      title: 'Catalog of resources',
      description: 'Lists resources of all servers, or of one, as compact cards in alphabetical order.',
      input: { serverId: SERVER_ID, cursor: CURSOR, limit: pageLimit(pageSize) },
      output: { resources: RESOURCE_CARDS, nextCursor: NEXT_CURSOR },
      answers: ['resources'],
      run: catalogResources,
    }),
    metaTool({
      name: 'describe_resource',
      title: 'Describe a resource',
      description: 'Everything that is known of one resource, or of the template that a URI fits.',
      input: { uri: { type: 'string', description: 'The URI, in any form.' } },
      required: ['uri'],
      output: { resource: { type: 'object' }, resourceTemplate: { type: 'object' } },
      answers: [],
      run: describeResource,
    }),
    metaTool({
      name: 'search_resources',
      title: 'Search resources',
      description:
        'Finds resources by words in their name, title, description, URI or type; the best come first.',
      input: {
        query: QUERY,
        mimeType: { type: 'string', description: 'Only of this type, such as text/plain or image/*.' },
        limit: LIMIT,
      },
      required: ['query'],
      output: { resources: RESOURCE_CARDS },
      answers: ['resources'],
      run: searchResources,
    }),
    metaTool({
      name: 'catalog_resource_templates',
      title: 'Catalog of resource templates',
      description: 'Lists the URI templates of all servers, or of one.',
      input: { serverId: SERVER_ID, cursor: CURSOR, limit: pageLimit(pageSize) },
      output: { resourceTemplates: TEMPLATE_CARDS, nextCursor: NEXT_CURSOR },
      answers: ['resourceTemplates'],
      run: catalogTemplates,
    }),
  ];
}
