import { Box } from 'ink';
import { printable } from '../../client/printable.js';
import { truncateEnd, textWidth } from '../../client/terminal-text.js';
import { formatCount } from '../../client/format.js';
import { placeColumns, rowLine, headerLine } from '../model/columns.js';
import type { ListId } from '../model/list-row.js';
import { highlighterFor } from '../model/marking.js';
import { panelDefinition, type Model } from '../model/model.js';
import { isLoaded, knownLength, totalLength, rowAt } from '../model/paged-list.js';
import { textLine, span, type TextLine } from '../model/text-line.js';
import { ScreenLine } from './screen-line.js';

interface Props {
  readonly model: Model;
  readonly list: ListId;
  readonly title: string;
  readonly width: number;
  /** Of the entries. */
  readonly height: number;
  /** Whether its selected row is the one that counts. */
  readonly isCurrent: boolean;
  /** Whether the keys move in it. */
  readonly hasFocus: boolean;
  /** The names of the columns cost a row, which a list below another has not. */
  readonly hasHead: boolean;
}

/** For the mark of the selected row. */
const MARGIN = 2;

/** A list as far as it is in view. */
export function ListView({ model, list, title, width, height, isCurrent, hasFocus, hasHead }: Props) {
  const state = model.lists[list];
  const marked = highlighterFor(list, model.panels[model.panel].query);
  const placed = placeColumns(list, width - MARGIN);
  const rows = Array.from({ length: height }, (_, at) => state.top + at);
  const known = knownLength(state.paged);
  return (
    <Box flexDirection="column" width={width}>
      <ScreenLine line={titleLine(model, list, title, width, hasFocus)} width={width} />
      {hasHead && <ScreenLine line={[span('  '), span(headerLine(placed), 'dim')]} width={width} />}
      {rows.map((index) => {
        const isSelected = index === state.selected && known > 0 && isCurrent;
        const entry = rowAt(state.paged, index);
        const mark = span(isSelected ? '▶ ' : '  ', 'accent');
        const line = entry ? rowLine(entry, placed, marked, model) : lineAt(model, list, index, known);
        return (
          <ScreenLine key={index} line={[mark, ...line]} width={width} isInverse={isSelected && hasFocus} />
        );
      })}
    </Box>
  );
}

function titleLine(model: Model, list: ListId, title: string, width: number, hasFocus: boolean): TextLine {
  const state = model.panels[model.panel];
  const isMain = panelDefinition(model.panel).main === list;
  const filters = isMain
    ? [
        ...(state.server === undefined ? [] : [` server: ${printable(state.server)} `]),
        ...(state.query === '' ? [] : [` search: ${printable(state.query)} `]),
      ]
    : [];
  const where = placeIn(model, list);
  const name = ` ${title} `;
  const narrowed = truncateEnd(
    filters.join('─'),
    Math.max(0, width - textWidth(name) - textWidth(where) - 4),
  );
  const rule = '─'.repeat(
    Math.max(
      0,
      width - textWidth(name) - textWidth(narrowed) - textWidth(where) - 2 - (narrowed === '' ? 0 : 1),
    ),
  );
  const style = hasFocus ? 'accent' : 'dim';
  return [
    span('─', style),
    span(name, hasFocus ? 'bold' : 'plain'),
    span(narrowed === '' ? '' : '─', style),
    span(narrowed, 'busy'),
    span(rule, style),
    span(where, 'plain'),
    span('─', style),
  ];
}

/** `3 of 107`, with what is still on its way. */
function placeIn(model: Model, list: ListId): string {
  const { paged, selected, toEnd } = model.lists[list];
  const { rows, isLeast } = totalLength(paged);
  if (!isLoaded(paged) || rows === 0) return '';
  const of = `${formatCount(rows)}${isLeast ? '+' : ''}`;
  if (toEnd) return ` on the way to the end: ${formatCount(knownLength(paged))} of ${of} `;
  return ` ${formatCount(selected + 1)} of ${of} `;
}

/** In the place of a row that is not there. */
function lineAt(model: Model, list: ListId, index: number, known: number): TextLine {
  const { paged, problem } = model.lists[list];
  if (problem !== undefined && index === known)
    return textLine(`cannot be read: ${problem}; R tries again`, 'bad');
  if (index < known) return textLine('…', 'dim');
  if (index > known || index > 0) return [];
  if (!isLoaded(paged)) return textLine(model.connection.state === 'live' ? 'loading…' : 'not loaded', 'dim');
  return textLine(nothingIn(model, list), 'dim');
}

function nothingIn({ panel, panels }: Model, list: ListId): string {
  const { query, server } = panels[panel];
  const what = NOTHING[list];
  const ofServer = server === undefined ? '' : ` of ${printable(server)}`;
  return query === '' ? `${what}${ofServer}` : `${what}${ofServer} match ${printable(query)}`;
}

const NOTHING: Readonly<Record<ListId, string>> = {
  servers: 'no servers',
  tools: 'no tools',
  'disabled-tools': 'none',
  prompts: 'no prompts',
  resources: 'no resources',
  'resource-templates': 'no templates',
  subscriptions: 'no subscriptions',
};
