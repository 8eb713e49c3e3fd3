import type { ListName, AdminLists, PageQuery } from '../client/admin-types.js';
import { formatAge, formatBytes } from '../client/format.js';
import type { GatewayOptions } from './command-options.js';
import { openGateway } from './gateway-session.js';
import type { TableCell, TableColumn } from './table.js';

export interface ListOptions extends GatewayOptions {
  readonly server?: string;
  readonly project?: string;
  readonly client?: string;
  readonly limit?: number;
}

interface Report<L extends ListName> {
  readonly list: L;
  /** What the rows are called in JSON, as in the admin API. */
  readonly member: string;
  readonly columns: readonly TableColumn[];
  readonly row: (item: AdminLists[L]) => TableCell[];
  readonly nothing: string;
}

const word = (value: unknown): string => (typeof value === 'string' ? value : '');
const firstLine = (value: unknown): string => word(value).trim().split('\n', 1)[0]!;

const named = <L extends 'tools' | 'prompts'>(list: L, title: string): Report<L> => ({
  list,
  member: list,
  columns: [
    { title, truncate: 'end' },
    { title: 'SERVER', truncate: 'end' },
    { title: 'DESCRIPTION', truncate: 'end' },
  ],
  row: ({ name, server, definition }) => [
    name,
    server,
    firstLine(definition['description']) || word(definition['title']),
  ],
  nothing: `no ${list}`,
});

export const TOOLS = named('tools', 'TOOL');
export const PROMPTS = named('prompts', 'PROMPT');

export const RESOURCES: Report<'resources'> = {
  list: 'resources',
  member: 'resources',
  columns: [
    { title: 'URI', truncate: 'middle' },
    { title: 'NAME', truncate: 'end' },
    { title: 'TYPE', truncate: 'end' },
    { title: 'SIZE', align: 'right' },
  ],
  row: ({ uri, definition }) => [
    uri,
    word(definition['title']) || word(definition['name']),
    word(definition['mimeType']),
    formatBytes(definition['size']),
  ],
  nothing: 'no resources',
};

export const TEMPLATES: Report<'resource-templates'> = {
  list: 'resource-templates',
  member: 'resourceTemplates',
  columns: [
    { title: 'PATTERN', truncate: 'middle' },
    { title: 'NAME', truncate: 'end' },
    { title: 'DESCRIPTION', truncate: 'end' },
  ],
  row: ({ uriTemplate, definition }) => [
    uriTemplate,
    word(definition['title']) || word(definition['name']),
    firstLine(definition['description']),
  ],
  nothing: 'no resource templates',
};

export const SUBSCRIPTIONS: Report<'subscriptions'> = {
  list: 'subscriptions',
  member: 'subscriptions',
  columns: [
    { title: 'ID' },
    { title: 'CLIENT' },
    { title: 'SERVER', truncate: 'end' },
    { title: 'URI', truncate: 'middle' },
    { title: 'AGE', align: 'right' },
  ],
  row: ({ id, client, server, uri, since }) => [id, client, server, uri, formatAge(since, Date.now())],
  nothing: 'nobody is subscribed',
};

/** Prints a list of the admin API, however many pages it has. */
export async function listCatalog<L extends ListName>(
  report: Report<L>,
  options: ListOptions,
  q?: string,
): Promise<void> {
  const { api, out } = await openGateway(options);
  const { server, project, client, limit } = options;
  const query: PageQuery = { server, project, client, q };
  const { rows, hasMore } = await api.rows(report.list, query, limit);
  if (out.format === 'json') out.json({ [report.member]: rows });
  else out.table(report.columns, rows.map(report.row), report.nothing);
  if (hasMore) out.note('there are more; a larger --limit shows them');
}

export async function listProjects(options: GatewayOptions): Promise<void> {
  const { api, out } = await openGateway(options);
  const projects = await api.projects();
  if (out.format === 'json') {
    out.json({ projects });
    return;
  }
  const columns: TableColumn[] = [
    { title: 'PROJECT' },
    { title: 'SERVERS', truncate: 'end' },
    { title: 'DESCRIPTION', truncate: 'end' },
  ];
  const rows = projects.map(({ id, servers, description = '' }) => [id, servers.join(', '), description]);
  out.table(columns, rows, 'there are no projects');
}

export async function endSubscription(id: string, options: GatewayOptions): Promise<void> {
  const { api, out } = await openGateway(options);
  await api.endSubscription(id);
  if (out.format === 'json') out.json({ id, ended: true });
  else out.line(`subscription ${id} is over`);
}
