import { firstLine, formatAge, formatBytes, textOrEmpty } from '../../client/format.js';
import { CLIENTS, subscriberName } from './client-columns.js';
import type { ListRow, ListId } from './list-row.js';
import { stateStyle } from './text-line.js';
import type { TuiColumn } from './tui-column.js';

const definitionOf = (row: ListRow): Readonly<Record<string, unknown>> =>
  'definition' in row.item ? row.item.definition : {};
const serverColumn = (minListWidth: number): TuiColumn => ({
  title: 'SERVER',
  width: 14,
  minListWidth,
  text: (row) => ('server' in row.item ? row.item.server : ''),
});

const SERVERS: readonly TuiColumn[] = [
  { title: 'SERVER', width: { share: 2 }, text: (row) => row.key, style: () => 'plain' },
  {
    title: 'STATE',
    width: 12,
    text: (row) => (row.kind === 'server' ? row.item.state : ''),
    style: (row) => (row.kind === 'server' ? stateStyle(row.item.state) : 'plain'),
  },
  {
    title: 'VIA',
    width: 5,
    minListWidth: 44,
    text: (row) => (row.kind === 'server' ? row.item.transport : ''),
  },
  {
    title: 'UPTIME',
    width: 7,
    align: 'right',
    minListWidth: 36,
    text: (row, { now }) =>
      row.kind === 'server' && row.item.state === 'ready' && row.item.since !== undefined
        ? formatAge(row.item.since, now)
        : '-',
  },
  countColumn('CALLS', 5, 50, (server) => server.calls),
  countColumn('QUEUE', 5, 56, (server) => server.waiting),
  countColumn('TOOLS', 6, 62, (server) => server.counts.tools),
  countColumn('PROMPTS', 7, 90, (server) => server.counts.prompts),
  countColumn('RESOURCES', 9, 100, (server) => server.counts.resources),
  {
    title: 'REASON',
    width: { share: 3 },
    minListWidth: 70,
    text: (row) => (row.kind === 'server' ? firstLine(row.item.reason) : ''),
    style: () => 'dim',
  },
];

type Server = Extract<ListRow, { kind: 'server' }>['item'];

function countColumn(
  title: string,
  width: number,
  minListWidth: number,
  read: (server: Server) => number,
): TuiColumn {
  return {
    title,
    width,
    minListWidth,
    align: 'right',
    text: (row) => (row.kind === 'server' ? String(read(row.item)) : ''),
  };
}

const TOOLS_AND_PROMPTS: readonly TuiColumn[] = [
  { title: 'NAME', width: { share: 4 }, text: (row) => row.key },
  serverColumn(60),
  {
    title: 'DESCRIPTION',
    width: { share: 5 },
    minListWidth: 60,
    text: (row) => firstLine(definitionOf(row)['description']) || textOrEmpty(definitionOf(row)['title']),
    style: () => 'dim',
  },
];

const DISABLED_TOOLS: readonly TuiColumn[] = [
  {
    title: 'NAME',
    width: { share: 4 },
    text: (row) => (row.kind === 'disabled-tool' ? row.item.ownName : ''),
  },
  serverColumn(60),
  {
    title: 'DESCRIPTION',
    width: { share: 5 },
    minListWidth: 60,
    text: (row) => (row.kind === 'disabled-tool' ? firstLine(row.item.description) : ''),
    style: () => 'dim',
  },
];

const nameOf = (row: ListRow): string =>
  textOrEmpty(definitionOf(row)['title']) || textOrEmpty(definitionOf(row)['name']);

const RESOURCES: readonly TuiColumn[] = [
  { title: 'URI', width: { share: 5 }, truncate: 'middle', text: (row) => row.key },
  { title: 'NAME', width: { share: 3 }, minListWidth: 60, text: nameOf },
  {
    title: 'TYPE',
    width: 16,
    minListWidth: 60,
    text: (row) => textOrEmpty(definitionOf(row)['mimeType']),
    style: () => 'dim',
  },
  {
    title: 'SIZE',
    width: 7,
    minListWidth: 60,
    align: 'right',
    text: (row) => formatBytes(definitionOf(row)['size']),
  },
];

const TEMPLATES: readonly TuiColumn[] = [
  { title: 'URI TEMPLATE', width: { share: 5 }, truncate: 'middle', text: (row) => row.key },
  {
    title: 'DESCRIPTION',
    width: { share: 4 },
    minListWidth: 60,
    text: (row) => firstLine(definitionOf(row)['description']) || nameOf(row),
    style: () => 'dim',
  },
];

const SUBSCRIPTIONS: readonly TuiColumn[] = [
  {
    title: 'CLIENT',
    width: { share: 2 },
    truncate: 'middle',
    text: subscriberName,
  },
  serverColumn(60),
  {
    title: 'URI',
    width: { share: 5 },
    truncate: 'middle',
    text: (row) => (row.kind === 'subscription' ? row.item.uri : ''),
  },
  {
    title: 'STREAM',
    width: 6,
    minListWidth: 60,
    text: (row) => (row.kind === 'subscription' ? (row.item.hasStream ? 'open' : 'none') : ''),
  },
  {
    title: 'AGE',
    width: 7,
    align: 'right',
    text: (row, { now }) => (row.kind === 'subscription' ? formatAge(row.item.since, now) : ''),
  },
];

/** The columns of each list. */
export const COLUMNS: Readonly<Record<ListId, readonly TuiColumn[]>> = {
  servers: SERVERS,
  tools: TOOLS_AND_PROMPTS,
  'disabled-tools': DISABLED_TOOLS,
  prompts: TOOLS_AND_PROMPTS,
  resources: RESOURCES,
  'resource-templates': TEMPLATES,
  subscriptions: SUBSCRIPTIONS,
  sessions: CLIENTS,
};
