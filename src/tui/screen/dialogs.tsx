import { Box } from 'ink';
import { printable } from '../../client/printable.js';
import { truncateEnd, textWidth, wrapText } from '../../client/terminal-text.js';
import { HELP_LINES } from '../model/help.js';
import type { Model, Overlay } from '../model/model.js';
import { textLine, span, type TextStyle, type TextLine } from '../model/text-line.js';
import { ScreenLine } from './screen-line.js';

interface Props {
  readonly model: Model;
  readonly width: number;
  readonly height: number;
}

const MAX_WIDTH = 76;
/** Columns of `│ ` and ` │`, and rows of the upper and lower border. */
const BORDER_COLUMNS = 4;
const BORDER_ROWS = 2;

/** Help, a confirmation or the server filter, shown in place of the panel. */
export function Dialog({ model, width, height }: Props) {
  const { overlay } = model;
  const innerWidth = Math.min(MAX_WIDTH, width - 6);
  const lines = overlay ? linesOf(overlay, model, innerWidth, height - BORDER_ROWS) : [];
  const title = overlay ? TITLES[overlay.kind] : '';
  const style: TextStyle = overlay?.kind === 'confirm' ? 'busy' : 'accent';
  const margin = ' '.repeat(Math.max(0, Math.floor((width - innerWidth - BORDER_COLUMNS) / 2)));
  const freeRows = Math.max(0, height - lines.length - BORDER_ROWS);
  const above = Math.floor(freeRows / 2);
  const below = freeRows - above;
  const top = `┌─ ${title} ${'─'.repeat(Math.max(0, innerWidth - title.length - 2))}─┐`;
  return (
    <Box flexDirection="column" width={width}>
      <Blank rows={above} width={width} keyPrefix="above" />
      <ScreenLine line={[span(margin), span(top, style)]} width={width} />
      {lines.map((line, at) => (
        <ScreenLine key={at} line={withBorder(line, margin, innerWidth, style)} width={width} />
      ))}
      <ScreenLine
        line={[span(margin), span(`└${bottomBorder(overlay, lines.length, innerWidth + 2)}┘`, style)]}
        width={width}
      />
      <Blank rows={below} width={width} keyPrefix="below" />
    </Box>
  );
}

function Blank({
  rows,
  width,
  keyPrefix,
}: {
  readonly rows: number;
  readonly width: number;
  readonly keyPrefix: string;
}) {
  return Array.from({ length: rows }, (_, at) => (
    <ScreenLine key={`${keyPrefix} ${at}`} line={[]} width={width} />
  ));
}

function withBorder(line: TextLine, margin: string, innerWidth: number, style: TextStyle): TextLine {
  const used = line.reduce((sum, { text }) => sum + textWidth(text), 0);
  return [
    span(margin),
    span('│ ', style),
    ...line,
    span(' '.repeat(Math.max(0, innerWidth - used))),
    span(' │', style),
  ];
}

/** The lower border. It says whether there are more lines below. */
function bottomBorder(overlay: Overlay | undefined, shown: number, width: number): string {
  const hasMore = overlay?.kind === 'help' && overlay.scroll + shown < HELP_LINES.length;
  return hasMore ? ` ↓ more `.padStart(width - 1, '─').padEnd(width, '─') : '─'.repeat(width);
}

const TITLES: Readonly<Record<Overlay['kind'], string>> = {
  help: 'Keys',
  confirm: 'Confirm',
  'server-filter': 'Filter by server',
  search: '',
};

function linesOf(overlay: Overlay, model: Model, width: number, room: number): readonly TextLine[] {
  switch (overlay.kind) {
    case 'help':
      return helpLines(overlay.scroll, width, room);
    case 'confirm':
      return [
        ...wrapText(overlay.question, width).map((text) => textLine(text, 'bold')),
        [],
        ...wrapText(overlay.effect, width).map((text) => textLine(text)),
        [],
        [span('y', 'accent'), span(' yes    '), span('n', 'accent'), span(' no')],
      ];
    case 'server-filter':
      return serverLines(overlay, model, width, room);
    default:
      return [];
  }
}

const helpLines = (scroll: number, width: number, room: number): readonly TextLine[] =>
  HELP_LINES.slice(scroll, scroll + room).map(({ title, keys = '', description = '' }) =>
    title === undefined
      ? [span(keys, 'accent'), span(truncateEnd(description, Math.max(0, width - textWidth(keys))))]
      : textLine(title, 'bold'),
  );

function serverLines(
  { options, selected }: Extract<Overlay, { kind: 'server-filter' }>,
  { servers }: Model,
  width: number,
  room: number,
): readonly TextLine[] {
  const top = Math.max(0, Math.min(selected - Math.floor(room / 2), options.length - room));
  return options.slice(top, top + room).map((id, at) => {
    const isSelected = top + at === selected;
    const state = id === undefined ? '' : (servers.find((server) => server.id === id)?.state ?? '');
    const name = id === undefined ? 'all servers' : printable(id);
    return [
      span(isSelected ? '▶ ' : '  ', 'accent'),
      span(truncateEnd(name, width - 16), isSelected ? 'bold' : 'plain'),
      span(state === 'ready' || state === '' ? '' : `  ${state}`, 'dim'),
    ];
  });
}
