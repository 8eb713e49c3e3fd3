import { printable } from '../../client/printable.js';
import { truncateEnd, truncateMiddle, padTextEnd, padTextStart } from '../../client/terminal-text.js';
import { formatAge, formatBytes, stateTone } from '../../client/format.js';
import type { ListRow, ListId } from './list-row.js';
import { NO_HIGHLIGHT, type Highlighter } from './marking.js';
import type { Model } from './model.js';
import { span, type TextStyle, type TextLine } from './text-line.js';

interface TuiColumn {
  readonly title: string;
  /** Columns it takes, or its share of what the others leave. */
  readonly width: number | { readonly share: number };
  /** Left out when the list is narrower. */
  readonly from?: number;
  readonly align?: 'right';
  readonly cut?: 'middle';
  readonly text: (entry: ListRow, model: Model) => string;
  readonly style?: (entry: ListRow) => TextStyle;
}

const GAP = 1;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const firstLine = (value: unknown): string => text(value).trim().split('\n', 1)[0]!;
const definitionOf = (entry: ListRow): Readonly<Record<string, unknown>> =>
  'definition' in entry.item ? entry.item.definition : {};
const serverColumn = (from: number): TuiColumn => ({
  title: 'SERVER',
  width: 14,
  from,
  text: (entry) => ('server' in entry.item ? entry.item.server : ''),
});

const SERVERS: readonly TuiColumn[] = [
  { title: 'SERVER', width: { share: 2 }, text: (entry) => entry.key, style: () => 'plain' },
  {
    title: 'STATE',
    width: 12,
    text: (entry) => (entry.kind === 'server' ? entry.item.state : ''),
    style: (entry) => (entry.kind === 'server' ? TONES[stateTone(entry.item.state)] : 'plain'),
  },
  {
    title: 'VIA',
    width: 5,
    from: 44,
    text: (entry) => (entry.kind === 'server' ? entry.item.transport : ''),
  },
  {
    title: 'UP',
    width: 7,
    align: 'right',
    from: 36,
    text: (entry, { now }) =>
      entry.kind === 'server' && entry.item.state === 'ready' && entry.item.since !== undefined
        ? formatAge(entry.item.since, now)
        : '-',
  },
  number('CALLS', 5, 50, (server) => server.calls),
  number('QUEUE', 5, 56, (server) => server.waiting),
  number('TOOLS', 6, 62, (server) => server.counts.tools),
  number('PROMPTS', 7, 90, (server) => server.counts.prompts),
  number('RESOURCES', 9, 100, (server) => server.counts.resources),
  {
    title: 'REASON',
    width: { share: 3 },
    from: 70,
    text: (entry) =>
      entry.kind === 'server' && entry.item.state !== 'ready' ? firstLine(entry.item.reason) : '',
    style: () => 'dim',
  },
];

type Server = Extract<ListRow, { kind: 'server' }>['item'];

function number(title: string, width: number, from: number, read: (server: Server) => number): TuiColumn {
  return {
    title,
    width,
    from,
    align: 'right',
    text: (entry) => (entry.kind === 'server' ? String(read(entry.item)) : ''),
  };
}

const TONES = { good: 'good', busy: 'busy', bad: 'bad', off: 'dim' } as const;

const NAMED: readonly TuiColumn[] = [
  { title: 'NAME', width: { share: 4 }, text: (entry) => entry.key },
  serverColumn(60),
  {
    title: 'DESCRIPTION',
    width: { share: 5 },
    from: 60,
    text: (entry) => firstLine(definitionOf(entry)['description']) || text(definitionOf(entry)['title']),
    style: () => 'dim',
  },
];

const DISABLED_TOOLS: readonly TuiColumn[] = [
  {
    title: 'NAME',
    width: { share: 4 },
    text: (entry) => (entry.kind === 'disabled-tool' ? entry.item.own : ''),
  },
  serverColumn(60),
  {
    title: 'DESCRIPTION',
    width: { share: 5 },
    from: 60,
    text: (entry) => (entry.kind === 'disabled-tool' ? firstLine(entry.item.description) : ''),
    style: () => 'dim',
  },
];

const nameOf = (entry: ListRow): string =>
  text(definitionOf(entry)['title']) || text(definitionOf(entry)['name']);

const RESOURCES: readonly TuiColumn[] = [
  { title: 'URI', width: { share: 5 }, cut: 'middle', text: (entry) => entry.key },
  { title: 'NAME', width: { share: 3 }, from: 60, text: nameOf },
  {
    title: 'TYPE',
    width: 16,
    from: 60,
    text: (entry) => text(definitionOf(entry)['mimeType']),
    style: () => 'dim',
  },
  {
    title: 'SIZE',
    width: 7,
    from: 60,
    align: 'right',
    text: (entry) => formatBytes(definitionOf(entry)['size']),
  },
];

const TEMPLATES: readonly TuiColumn[] = [
  { title: 'PATTERN', width: { share: 5 }, cut: 'middle', text: (entry) => entry.key },
  {
    title: 'DESCRIPTION',
    width: { share: 4 },
    from: 60,
    text: (entry) => firstLine(definitionOf(entry)['description']) || nameOf(entry),
    style: () => 'dim',
  },
];

const SUBSCRIPTIONS: readonly TuiColumn[] = [
  {
    title: 'CLIENT',
    width: { share: 2 },
    text: (entry, { sessions }) => {
      if (entry.kind !== 'subscription') return '';
      return sessions.get(entry.item.client)?.client?.name ?? entry.item.client;
    },
  },
  serverColumn(60),
  {
    title: 'URI',
    width: { share: 5 },
    cut: 'middle',
    text: (entry) => (entry.kind === 'subscription' ? entry.item.uri : ''),
  },
  {
    title: 'AGE',
    width: 7,
    align: 'right',
    text: (entry, { now }) => (entry.kind === 'subscription' ? formatAge(entry.item.since, now) : ''),
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

export interface PlacedColumn {
  readonly column: TuiColumn;
  readonly width: number;
}

/** The columns that a list of this width has room for, and how wide each is. */
export function placeColumns(list: ListId, width: number): readonly PlacedColumn[] {
  const shown = COLUMNS[list].filter(({ from = 0 }) => width >= from);
  const fixed = shown.reduce((sum, { width: own }) => sum + (typeof own === 'number' ? own : 0), 0);
  const shares = shown.reduce((sum, { width: own }) => sum + (typeof own === 'number' ? 0 : own.share), 0);
  let room = width - fixed - GAP * (shown.length - 1);
  let left = shares;
  return shown.map((column) => {
    if (typeof column.width === 'number') return { column, width: column.width };
    const own = Math.floor((room * column.width.share) / left);
    room -= own;
    left -= column.width.share;
    return { column, width: Math.max(0, own) };
  });
}

export const headerLine = (placed: readonly PlacedColumn[]): string =>
  placed
    .map(({ column, width }) => aligned(truncateEnd(column.title, width), width, column))
    .join(' '.repeat(GAP));

/** One row, with what was looked for marked. */
export function rowLine(
  entry: ListRow,
  placed: readonly PlacedColumn[],
  mark: Highlighter,
  model: Model,
): TextLine {
  const cells = placed.map(({ column, width }) => {
    const shown = printable(column.text(entry, model).slice(0, MAX_CELL_LENGTH));
    const short = column.cut === 'middle' ? truncateMiddle(shown, width) : truncateEnd(shown, width);
    return mark(aligned(short, width, column), column.style?.(entry) ?? 'plain');
  });
  // Found by what the row has no room for, such as a description: then it stands out as a whole.
  const isFoundUnseen = mark !== NO_HIGHLIGHT && !cells.flat().some(({ style }) => style === 'match');
  return cells.flatMap((cell, at) => {
    if (at > 0) return [span(' '.repeat(GAP)), ...cell];
    return isFoundUnseen ? cell.map(({ text: piece }) => span(piece, 'accent')) : cell;
  });
}

/** No screen is as wide; what is longer need not be looked through. */
const MAX_CELL_LENGTH = 2000;

const aligned = (shown: string, width: number, { align }: TuiColumn): string =>
  align === 'right' ? padTextStart(shown, width) : padTextEnd(shown, width);
