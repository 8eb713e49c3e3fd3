import { printable } from '../../client/printable.js';
import { truncateEnd, truncateMiddle, padTextEnd, padTextStart } from '../../client/terminal-text.js';
import { firstLine, formatAge, formatBytes, textOrEmpty } from '../../client/format.js';
import type { ListRow, ListId } from './list-row.js';
import { NO_HIGHLIGHT, type Highlighter } from './highlight.js';
import type { Model } from './model.js';
import { span, stateStyle, type TextStyle, type TextLine } from './text-line.js';

interface TuiColumn {
  readonly title: string;
  /** Fixed width, or share of the width that fixed columns leave. */
  readonly width: number | { readonly share: number };
  /** Minimum width of the list for this column to be shown. */
  readonly minListWidth?: number;
  readonly align?: 'right';
  readonly truncate?: 'middle';
  readonly text: (row: ListRow, model: Model) => string;
  readonly style?: (row: ListRow) => TextStyle;
}

const GAP = 1;
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

const NAMED: readonly TuiColumn[] = [
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
    text: (row, { sessions }) => {
      if (row.kind !== 'subscription') return '';
      return sessions.get(row.item.client)?.client?.name ?? row.item.client;
    },
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

const COLUMNS: Readonly<Record<ListId, readonly TuiColumn[]>> = {
  servers: SERVERS,
  tools: NAMED,
  'disabled-tools': DISABLED_TOOLS,
  prompts: NAMED,
  resources: RESOURCES,
  'resource-templates': TEMPLATES,
  subscriptions: SUBSCRIPTIONS,
};

interface PlacedColumn {
  readonly column: TuiColumn;
  readonly width: number;
}

/** The columns that fit into a list of this width, and their widths. */
export function placeColumns(list: ListId, width: number): readonly PlacedColumn[] {
  const shown = COLUMNS[list].filter(({ minListWidth = 0 }) => width >= minListWidth);
  const fixed = shown.reduce((sum, { width: column }) => sum + (typeof column === 'number' ? column : 0), 0);
  const shares = shown.reduce(
    (sum, { width: column }) => sum + (typeof column === 'number' ? 0 : column.share),
    0,
  );
  let freeWidth = width - fixed - GAP * (shown.length - 1);
  let freeShares = shares;
  return shown.map((column) => {
    if (typeof column.width === 'number') return { column, width: column.width };
    const shared = Math.floor((freeWidth * column.width.share) / freeShares);
    freeWidth -= shared;
    freeShares -= column.width.share;
    return { column, width: Math.max(0, shared) };
  });
}

export const headerLine = (placed: readonly PlacedColumn[]): string =>
  placed
    .map(({ column, width }) => padCell(truncateEnd(column.title, width), width, column))
    .join(' '.repeat(GAP));

/** One row of a list with highlighted matches. */
export function rowLine(
  row: ListRow,
  placed: readonly PlacedColumn[],
  highlight: Highlighter,
  model: Model,
): TextLine {
  const cells = placed.map(({ column, width }) => {
    const shown = printable(column.text(row, model).slice(0, MAX_CELL_LENGTH));
    const short = column.truncate === 'middle' ? truncateMiddle(shown, width) : truncateEnd(shown, width);
    return highlight(padCell(short, width, column), column.style?.(row) ?? 'plain');
  });
  // A row that matches only in a part that is not shown, such as the description, is highlighted as a whole.
  const isHiddenMatch = highlight !== NO_HIGHLIGHT && !cells.flat().some(({ style }) => style === 'match');
  return cells.flatMap((cell, at) => {
    if (at > 0) return [span(' '.repeat(GAP)), ...cell];
    return isHiddenMatch ? cell.map(({ text: piece }) => span(piece, 'accent')) : cell;
  });
}

/** Wider than any screen: bounds the work for very long texts. */
const MAX_CELL_LENGTH = 2000;

const padCell = (shown: string, width: number, { align }: TuiColumn): string =>
  align === 'right' ? padTextStart(shown, width) : padTextEnd(shown, width);
