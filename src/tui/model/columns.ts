import { printable } from '../../client/printable.js';
import { cut, cutMiddle, padEnd, padStart } from '../../client/text-width.js';
import { age, size, stateTone } from '../../client/words.js';
import type { Entry, ListId } from './entry.js';
import { UNMARKED, type Mark } from './marking.js';
import type { Model } from './model.js';
import { span, type Look, type TextLine } from './text-line.js';

interface Column {
  readonly title: string;
  /** Columns it takes, or its share of what the others leave. */
  readonly width: number | { readonly share: number };
  /** Left out when the list is narrower. */
  readonly from?: number;
  readonly align?: 'right';
  readonly cut?: 'middle';
  readonly text: (entry: Entry, model: Model) => string;
  readonly look?: (entry: Entry) => Look;
}

const GAP = 1;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const firstLine = (value: unknown): string => text(value).trim().split('\n', 1)[0]!;
const definitionOf = (entry: Entry): Readonly<Record<string, unknown>> =>
  'definition' in entry.item ? entry.item.definition : {};
const serverColumn = (from: number): Column => ({
  title: 'SERVER',
  width: 14,
  from,
  text: (entry) => ('server' in entry.item ? entry.item.server : ''),
});

const SERVERS: readonly Column[] = [
  { title: 'SERVER', width: { share: 2 }, text: (entry) => entry.key, look: () => 'plain' },
  {
    title: 'STATE',
    width: 12,
    text: (entry) => (entry.kind === 'server' ? entry.item.state : ''),
    look: (entry) => (entry.kind === 'server' ? TONES[stateTone(entry.item.state)] : 'plain'),
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
        ? age(entry.item.since, now)
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
    look: () => 'dim',
  },
];

type Server = Extract<Entry, { kind: 'server' }>['item'];

function number(title: string, width: number, from: number, read: (server: Server) => number): Column {
  return {
    title,
    width,
    from,
    align: 'right',
    text: (entry) => (entry.kind === 'server' ? String(read(entry.item)) : ''),
  };
}

const TONES = { good: 'good', busy: 'busy', bad: 'bad', off: 'dim' } as const;

const NAMED: readonly Column[] = [
  { title: 'NAME', width: { share: 4 }, text: (entry) => entry.key },
  serverColumn(60),
  {
    title: 'DESCRIPTION',
    width: { share: 5 },
    from: 60,
    text: (entry) => firstLine(definitionOf(entry)['description']) || text(definitionOf(entry)['title']),
    look: () => 'dim',
  },
];

const OFF_TOOLS: readonly Column[] = [
  { title: 'NAME', width: { share: 4 }, text: (entry) => (entry.kind === 'off-tool' ? entry.item.own : '') },
  serverColumn(60),
  {
    title: 'DESCRIPTION',
    width: { share: 5 },
    from: 60,
    text: (entry) => (entry.kind === 'off-tool' ? firstLine(entry.item.description) : ''),
    look: () => 'dim',
  },
];

const nameOf = (entry: Entry): string =>
  text(definitionOf(entry)['title']) || text(definitionOf(entry)['name']);

const RESOURCES: readonly Column[] = [
  { title: 'URI', width: { share: 5 }, cut: 'middle', text: (entry) => entry.key },
  { title: 'NAME', width: { share: 3 }, from: 60, text: nameOf },
  {
    title: 'TYPE',
    width: 16,
    from: 60,
    text: (entry) => text(definitionOf(entry)['mimeType']),
    look: () => 'dim',
  },
  { title: 'SIZE', width: 7, from: 60, align: 'right', text: (entry) => size(definitionOf(entry)['size']) },
];

const TEMPLATES: readonly Column[] = [
  { title: 'PATTERN', width: { share: 5 }, cut: 'middle', text: (entry) => entry.key },
  {
    title: 'DESCRIPTION',
    width: { share: 4 },
    from: 60,
    text: (entry) => firstLine(definitionOf(entry)['description']) || nameOf(entry),
    look: () => 'dim',
  },
];

const SUBSCRIPTIONS: readonly Column[] = [
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
    text: (entry, { now }) => (entry.kind === 'subscription' ? age(entry.item.since, now) : ''),
  },
];

const COLUMNS: Readonly<Record<ListId, readonly Column[]>> = {
  servers: SERVERS,
  tools: NAMED,
  'off-tools': OFF_TOOLS,
  prompts: NAMED,
  resources: RESOURCES,
  'resource-templates': TEMPLATES,
  subscriptions: SUBSCRIPTIONS,
};

export interface Placed {
  readonly column: Column;
  readonly width: number;
}

/** The columns that a list of this width has room for, and how wide each is. */
export function columnsOf(list: ListId, width: number): readonly Placed[] {
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

export const headLine = (placed: readonly Placed[]): string =>
  placed.map(({ column, width }) => aligned(cut(column.title, width), width, column)).join(' '.repeat(GAP));

/** One row, with what was looked for marked. */
export function entryLine(entry: Entry, placed: readonly Placed[], mark: Mark, model: Model): TextLine {
  const cells = placed.map(({ column, width }) => {
    const shown = printable(column.text(entry, model).slice(0, MOST_SHOWN));
    const short = column.cut === 'middle' ? cutMiddle(shown, width) : cut(shown, width);
    return mark(aligned(short, width, column), column.look?.(entry) ?? 'plain');
  });
  // Found by what the row has no room for, such as a description: then it stands out as a whole.
  const isFoundUnseen = mark !== UNMARKED && !cells.flat().some(({ look }) => look === 'match');
  return cells.flatMap((cell, at) => {
    if (at > 0) return [span(' '.repeat(GAP)), ...cell];
    return isFoundUnseen ? cell.map(({ text: piece }) => span(piece, 'accent')) : cell;
  });
}

/** No screen is as wide; what is longer need not be looked through. */
const MOST_SHOWN = 2000;

const aligned = (shown: string, width: number, { align }: Column): string =>
  align === 'right' ? padStart(shown, width) : padEnd(shown, width);
