import { resourceNotFound } from '../core/errors.js';
import type { ResourceView } from '../core/resources/resource-view.js';
import type { Scope } from '../core/scope.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import type { MetaTool } from '../registry/meta-tool-registry.js';
import type { Registry } from '../registry/registry.service.js';
import { resourceSummary, templateSummary, resourceDefinition, templateDefinition } from './summaries.js';
import type { SummaryPager } from './summary-pager.js';
import { defineMetaTool } from './define-meta-tool.js';
import type { ResourceSearch } from './resource-search.js';
import {
  CURSOR_INPUT,
  LIMIT_INPUT,
  NEXT_CURSOR_OUTPUT,
  pageLimitInput,
  QUERY_INPUT,
  RESOURCES_OUTPUT,
  SERVER_ID_INPUT,
  TEMPLATES_OUTPUT,
} from './schemas.js';
import { ArgumentError, type ToolArguments } from './tool-arguments.js';

/** Meta tools to find a resource without listing all of them. */
export function resourceMetaTools(
  registry: Registry,
  search: ResourceSearch,
  pager: SummaryPager,
): MetaTool[] {
  const viewOf = (scope: Scope) => registry.catalogOf(scope).resources.view(scope);

  async function preparedView(scope: Scope): Promise<ResourceView> {
    const resources = viewOf(scope);
    await resources.prepare(() => sliceScheduler.start());
    return resources;
  }

  async function catalogResources(args: ToolArguments, scope: Scope): Promise<object> {
    const resources = await preparedView(scope);
    const { summaries, more } = pager.page('catalog_resources', scope, args, {
      find: (after, count) => resources.after(after, count, args.serverId),
      keyOf: ({ uri }) => uri,
      summarize: resourceSummary,
    });
    return { resources: summaries, ...more };
  }

  async function catalogTemplates(args: ToolArguments, scope: Scope): Promise<object> {
    const { serverId } = args;
    const { listedTemplates } = await preparedView(scope);
    const templates = listedTemplates.filter(
      ({ template }) => serverId === undefined || template.server === serverId,
    );
    const { summaries, more } = pager.page('catalog_resource_templates', scope, args, {
      find: (after, count) => templates.filter(({ uriTemplate }) => uriTemplate > after).slice(0, count),
      keyOf: ({ uriTemplate }) => uriTemplate,
      summarize: templateSummary,
    });
    return { resourceTemplates: summaries, ...more };
  }

  function describeResource(args: ToolArguments, scope: Scope): object {
    const { uri } = args;
    const found = viewOf(scope).find(uri);
    const resource = found?.resource && viewOf(scope).toPublic(found.resource);
    if (resource) return { resource: resourceDefinition(resource) };
    const template = found?.template ?? viewOf(scope).findTemplate(uri);
    const { listedTemplates } = viewOf(scope);
    const publicTemplate = listedTemplates.find((candidate) => candidate.template === template);
    if (!publicTemplate) throw new ArgumentError(resourceNotFound(uri).message);
    return { resourceTemplate: templateDefinition(publicTemplate) };
  }

  async function searchResources(args: ToolArguments, scope: Scope): Promise<object> {
    const { query, mimeType, limit } = args;
    const found = await search.search(query, { scope, mimeType, limit });
    // A resource may have been removed from the catalog while the search was running.
    const resources = found.flatMap((resource) => viewOf(scope).toPublic(resource) ?? []);
    return { resources: resources.map(resourceSummary) };
  }

  return [
    defineMetaTool({
      name: 'catalog_resources',
      title: 'Catalog of resources',
      description:
        'Lists the resources of all servers or of one server in alphabetical order, without descriptions.',
      input: { serverId: SERVER_ID_INPUT, cursor: CURSOR_INPUT, limit: pageLimitInput(pager.pageSize) },
      output: { resources: RESOURCES_OUTPUT, nextCursor: NEXT_CURSOR_OUTPUT },
      requiredOutput: ['resources'],
      run: catalogResources,
    }),
    defineMetaTool({
      name: 'describe_resource',
      title: 'Describe a resource',
      description: 'Returns the complete definition of a resource, or of the template that a URI matches.',
      input: { uri: { type: 'string', description: 'The URI, in any form.' } },
      requiredInput: ['uri'],
      output: { resource: { type: 'object' }, resourceTemplate: { type: 'object' } },
      requiredOutput: [],
      run: describeResource,
    }),
    defineMetaTool({
      name: 'search_resources',
      title: 'Search resources',
      description:
        'Finds resources by words in their name, title, description, URI or MIME type, best match first.',
      input: {
        query: QUERY_INPUT,
        mimeType: {
          type: 'string',
          description: 'Only resources of this MIME type, such as text/plain or image/*.',
        },
        limit: LIMIT_INPUT,
      },
      requiredInput: ['query'],
      output: { resources: RESOURCES_OUTPUT },
      requiredOutput: ['resources'],
      run: searchResources,
    }),
    defineMetaTool({
      name: 'catalog_resource_templates',
      title: 'Catalog of resource templates',
      description: 'Lists the resource templates of all servers or of one server.',
      input: { serverId: SERVER_ID_INPUT, cursor: CURSOR_INPUT, limit: pageLimitInput(pager.pageSize) },
      output: { resourceTemplates: TEMPLATES_OUTPUT, nextCursor: NEXT_CURSOR_OUTPUT },
      requiredOutput: ['resourceTemplates'],
      run: catalogTemplates,
    }),
  ];
}
