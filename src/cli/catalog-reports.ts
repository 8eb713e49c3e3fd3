import type { AdminDecision, AdminLists, ListName, PageQuery, PromptItem } from '../client/admin-types.js';
import { clientNames } from '../client/client-names.js';
import { firstLine, formatAge, formatBytes, formatDecision, textOrEmpty } from '../client/format.js';
import type { GatewayOptions } from './command-options.js';
import { openGateway } from './gateway-session.js';
import type { TableCell, TableColumn } from './table.js';

export interface ListOptions extends GatewayOptions {
  readonly server?: string;
  readonly project?: string;
  readonly client?: string;
  /** Id of a session. Only entries that its client sees are listed. */
  readonly session?: string;
  readonly limit?: number;
}

/** The column with the decision of an administrator about an entry. A cell is empty if there is no decision. */
const DECIDED: TableColumn = { title: 'DECIDED', truncate: 'end', isOptional: true };

const decidedCell = ({ decision }: { readonly decision?: AdminDecision }): string =>
  decision ? formatDecision(decision) : '';

/** How a list of the admin API is printed. */
interface Report<L extends ListName> {
  readonly list: L;
  /** Name of the list in JSON output, as in the admin API. */
  readonly jsonKey: string;
  readonly columns: readonly TableColumn[];
  readonly rows: (all: readonly AdminLists[L][]) => TableCell[][];
  readonly emptyText: string;
}

const namedColumns = (title: string): readonly TableColumn[] => [
  { title, truncate: 'end' },
  { title: 'SERVER', truncate: 'end' },
  { title: 'DESCRIPTION', truncate: 'end' },
];

const namedRow = ({ name, server, definition }: PromptItem): TableCell[] => [
  name,
  server,
  firstLine(definition['description']) || textOrEmpty(definition['title']),
];

export const TOOLS: Report<'tools'> = {
  list: 'tools',
  jsonKey: 'tools',
  columns: [...namedColumns('TOOL'), DECIDED],
  rows: (all) => all.map((tool) => [...namedRow(tool), decidedCell(tool)]),
  emptyText: 'no tools',
};

export const PROMPTS: Report<'prompts'> = {
  list: 'prompts',
  jsonKey: 'prompts',
  columns: namedColumns('PROMPT'),
  rows: (all) => all.map(namedRow),
  emptyText: 'no prompts',
};

export const RESOURCES: Report<'resources'> = {
  list: 'resources',
  jsonKey: 'resources',
  columns: [
    { title: 'URI', truncate: 'middle' },
    { title: 'NAME', truncate: 'end' },
    { title: 'TYPE', truncate: 'end' },
    { title: 'SIZE', align: 'right' },
  ],
  rows: (all) =>
    all.map(({ uri, definition }) => [
      uri,
      textOrEmpty(definition['title']) || textOrEmpty(definition['name']),
      textOrEmpty(definition['mimeType']),
      formatBytes(definition['size']),
    ]),
  emptyText: 'no resources',
};

export const TEMPLATES: Report<'resource-templates'> = {
  list: 'resource-templates',
  jsonKey: 'resourceTemplates',
  columns: [
    { title: 'URI TEMPLATE', truncate: 'middle' },
    { title: 'NAME', truncate: 'end' },
    { title: 'DESCRIPTION', truncate: 'end' },
  ],
  rows: (all) =>
    all.map(({ uriTemplate, definition }) => [
      uriTemplate,
      textOrEmpty(definition['title']) || textOrEmpty(definition['name']),
      firstLine(definition['description']),
    ]),
  emptyText: 'no resource templates',
};

export const SUBSCRIPTIONS: Report<'subscriptions'> = {
  list: 'subscriptions',
  jsonKey: 'subscriptions',
  columns: [
    { title: 'ID' },
    { title: 'CLIENT', truncate: 'middle' },
    { title: 'SERVER', truncate: 'end' },
    { title: 'URI', truncate: 'middle' },
    { title: 'STREAM' },
    { title: 'AGE', align: 'right' },
  ],
  rows: (all) => {
    const nameOf = clientNames(all);
    return all.map((item) => [
      item.id,
      nameOf(item),
      item.server,
      item.uri,
      item.hasStream ? 'open' : 'none',
      formatAge(item.since, Date.now()),
    ]);
  },
  emptyText: 'no subscriptions',
};

/** Prints a list of the admin API, or its first `limit` rows. Reads as many pages as needed. */
export async function listCatalog<L extends ListName>(
  report: Report<L>,
  options: ListOptions,
  q?: string,
): Promise<void> {
  const { api, out } = await openGateway(options);
  const { server, project, client, session, limit } = options;
  const query: PageQuery = { session, server, project, client, q };
  const { rows, hasMore } = await api.rows(report.list, query, limit);
  if (out.format === 'json') out.json({ [report.jsonKey]: rows });
  else out.table(report.columns, report.rows(rows), report.emptyText);
  if (hasMore) out.note('more entries exist; raise --limit to see them');
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
    DECIDED,
  ];
  const rows = projects.map((project) => [
    project.id,
    project.servers.join(', '),
    project.description ?? '',
    decidedCell(project),
  ]);
  out.table(columns, rows, 'no projects');
}

export async function endSubscription(id: string, options: GatewayOptions): Promise<void> {
  const { api, out } = await openGateway(options);
  await api.endSubscription(id);
  if (out.format === 'json') out.json({ id, ended: true });
  else out.line(`subscription ${id} ended`);
}
