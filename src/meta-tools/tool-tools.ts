import { META_TOOL_SERVER, type ListedEntry } from '../core/naming/name-table.js';
import type { Scope } from '../core/scope.js';
import type { MetaTool } from '../registry/meta-tools.js';
import type { Registry } from '../registry/registry.service.js';
import { toolCard, wholeTool } from './cards.js';
import { CatalogCursors } from './catalog-cursors.js';
import { metaTool } from './meta-tool.js';
import { CURSOR, LIMIT, NEXT_CURSOR, pageLimit, QUERY, SERVER_ID, TOOL_CARDS } from './schemas.js';
import { ArgumentError, type ToolArguments } from './tool-arguments.js';
import type { ToolSearch } from './tool-search.js';

/** Tools with which an agent finds the tool it needs without reading the schemas of all. */
export function toolTools(registry: Registry, search: ToolSearch, pageSize: number): MetaTool[] {
  const cursors = new CatalogCursors(pageSize);
  const view = (scope: Scope) => registry.catalog.tools.view(scope);

  function catalogTools(args: ToolArguments, scope: Scope): object {
    const { serverId } = args;
    const isWanted = ({ server }: ListedEntry): boolean =>
      server !== META_TOOL_SERVER && (serverId === undefined || server === serverId);
    const { cards, more } = cursors.page(
      'catalog_tools',
      scope,
      args,
      (after, most) =>
        view(scope)
          .listed.filter((tool) => tool.publicName > after && isWanted(tool))
          .slice(0, most),
      ({ publicName }) => publicName,
      toolCard,
    );
    return { tools: cards, ...more };
  }

  function describeTool(args: ToolArguments, scope: Scope): object {
    const name = args.required('name');
    const tool = view(scope).find(name);
    if (!tool) throw new ArgumentError(`Unknown tool: ${name}`);
    // One whose name is another's is listed nowhere, and can be called by the name that it was asked for by.
    return { tool: { ...wholeTool(tool), name: tool.publicName ?? name } };
  }

  async function searchTools(args: ToolArguments, scope: Scope): Promise<object> {
    const { query, limit } = args;
    const found = await search.search(query, scope, limit);
    return { tools: found.map(toolCard) };
  }

  return [
    metaTool({
      name: 'catalog_tools',
      title: 'Catalog of tools',
      description: 'Lists tools of all servers, or of one, as compact cards without their schemas.',
      input: { serverId: SERVER_ID, cursor: CURSOR, limit: pageLimit(pageSize) },
      output: { tools: TOOL_CARDS, nextCursor: NEXT_CURSOR },
      answers: ['tools'],
      run: catalogTools,
    }),
    metaTool({
      name: 'describe_tool',
      title: 'Describe a tool',
      description: 'The whole definition of one tool, with its schemas.',
      input: { name: { type: 'string', description: 'The name of the tool.' } },
      required: ['name'],
      output: { tool: { type: 'object' } },
      answers: ['tool'],
      run: describeTool,
    }),
    metaTool({
      name: 'search_tools',
      title: 'Search tools',
      description: 'Finds tools by words in their name, title or description; the best come first.',
      input: { query: QUERY, limit: LIMIT },
      required: ['query'],
      output: { tools: TOOL_CARDS },
      answers: ['tools'],
      run: searchTools,
    }),
  ];
}
