import { META_TOOL_SERVER, type ListedEntry } from '../core/naming/catalog-entry.js';
import { unknownName } from '../core/naming/unknown-name.js';
import type { Era } from '../core/errors.js';
import type { Scope } from '../core/scope.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import type { MetaTool } from '../registry/meta-tool-registry.js';
import type { Registry } from '../registry/registry.service.js';
import { toolSummary, toolDefinition } from './summaries.js';
import type { SummaryPager } from './summary-pager.js';
import { defineMetaTool } from './define-meta-tool.js';
import {
  CURSOR_INPUT,
  LIMIT_INPUT,
  NEXT_CURSOR_OUTPUT,
  pageLimitInput,
  QUERY_INPUT,
  SERVER_ID_INPUT,
  TOOLS_OUTPUT,
} from './schemas.js';
import { ArgumentError, type ToolArguments } from './tool-arguments.js';
import type { ToolSearch } from './name-search.js';

/** Meta tools to find a tool without reading the schemas of all tools. */
export function toolMetaTools(registry: Registry, search: ToolSearch, pager: SummaryPager): MetaTool[] {
  const viewOf = (scope: Scope) => registry.catalogOf(scope).tools.view(scope);

  async function catalogTools(args: ToolArguments, scope: Scope): Promise<object> {
    const { serverId } = args;
    const tools = viewOf(scope);
    await tools.prepare(() => sliceScheduler.start());
    const { summaries, more } = pager.page('catalog_tools', scope, args, {
      find: (after, count) => firstTools(tools.after(after, serverId), count),
      keyOf: ({ publicName }) => publicName,
      summarize: toolSummary,
    });
    return { tools: summaries, ...more };
  }

  function describeTool(args: ToolArguments, scope: Scope, era: Era): object {
    const name = args.required('name');
    const tools = viewOf(scope);
    const tool = tools.find(name);
    if (!tool) throw new ArgumentError(unknownName('tool', name, tools).message);
    // A tool that is not listed has no public name, but a client can call it by the requested name.
    return { tool: { ...toolDefinition(tool, era), name: tool.publicName ?? name } };
  }

  async function searchTools(args: ToolArguments, scope: Scope): Promise<object> {
    const { query, limit } = args;
    const found = await search.search(query, scope, limit);
    return { tools: found.map(toolSummary) };
  }

  return [
    defineMetaTool({
      name: 'catalog_tools',
      title: 'Catalog of tools',
      description: 'Lists the tools of all servers or of one server, without their schemas.',
      input: { serverId: SERVER_ID_INPUT, cursor: CURSOR_INPUT, limit: pageLimitInput(pager.pageSize) },
      output: { tools: TOOLS_OUTPUT, nextCursor: NEXT_CURSOR_OUTPUT },
      requiredOutput: ['tools'],
      run: catalogTools,
    }),
    defineMetaTool({
      name: 'describe_tool',
      title: 'Describe a tool',
      description: 'Returns the complete definition of a tool with its schemas.',
      input: { name: { type: 'string', description: 'The name of the tool.' } },
      requiredInput: ['name'],
      output: { tool: { type: 'object' } },
      requiredOutput: ['tool'],
      run: describeTool,
    }),
    defineMetaTool({
      name: 'search_tools',
      title: 'Search tools',
      description: 'Finds tools by words in their name, title or description, best match first.',
      input: { query: QUERY_INPUT, limit: LIMIT_INPUT },
      requiredInput: ['query'],
      output: { tools: TOOLS_OUTPUT },
      requiredOutput: ['tools'],
      run: searchTools,
    }),
  ];
}

function firstTools(tools: Iterable<ListedEntry>, count: number): ListedEntry[] {
  const first: ListedEntry[] = [];
  for (const tool of tools) {
    if (first.length === count) break;
    if (tool.server !== META_TOOL_SERVER) first.push(tool);
  }
  return first;
}
