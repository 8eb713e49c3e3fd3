import { Box } from 'ink';
import { printable } from '../../client/printable.js';
import { truncateEnd, textWidth } from '../../client/terminal-text.js';
import { formatCount } from '../../client/format.js';
import { placeColumns, rowLine, headerLine } from '../model/columns.js';
import type { ListId } from '../model/list-row.js';
import { highlighterFor } from '../model/highlight.js';
import { panelDefinition, type Model } from '../model/model.js';
import { isLoaded, knownLength, totalLength, rowAt } from '../model/paged-list.js';
import { textLine, span, type TextLine } from '../model/text-line.js';
import { ScreenLine } from './screen-line.js';

interface Props {
  readonly model: Model;
  readonly list: ListId;
  readonly title: string;
  readonly width: number;
  /** Rows of the list, without title and headings. */
  readonly height: number;
  /** Whether the selected row of this list is shown as selected. */
  readonly isCurrent: boolean;
  /** Whether keys move in this list. */
  readonly hasFocus: boolean;
  /** Whether column headings are shown. The second list of a panel has no room for them. */
  readonly hasHeadings: boolean;
}

/** Space for the marker of the selected row. */
const MARGIN = 2;

/** The visible part of a list. */
export function ListView({ model, list, title, width, height, isCurrent, hasFocus, hasHeadings }: Props) {
  const state = model.lists[list];
  const highlight = highlighterFor(list, model.panels[model.panel].query);
  const placed = placeColumns(list, width - MARGIN);
  const rows = Array.from({ length: height }, (_, at) => state.top + at);
  const known = knownLength(state.paged);
  return (
    <Box flexDirection="column" width={width}>
      <ScreenLine line={titleLine(model, list, title, width, hasFocus)} width={width} />
      {hasHeadings && <ScreenLine line={[span('  '), span(headerLine(placed), 'dim')]} width={width} />}
      {rows.map((index) => {
        const isSelected = index === state.selected && known > 0 && isCurrent;
        const row = rowAt(state.paged, index);
        const marker = span(isSelected ? '▶ ' : '  ', 'accent');
        const line = row
          ? rowLine(row, placed, highlight, model)
          : placeholderLine(model, list, index, known);
        return (
          <ScreenLine key={index} line={[marker, ...line]} width={width} isInverse={isSelected && hasFocus} />
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
  const position = positionText(model, list);
  const name = ` ${title} `;
  const filterText = truncateEnd(
    filters.join('─'),
    Math.max(0, width - textWidth(name) - textWidth(position) - 4),
  );
  const rule = '─'.repeat(
    Math.max(
      0,
      width - textWidth(name) - textWidth(filterText) - textWidth(position) - 2 - (filterText === '' ? 0 : 1),
    ),
  );
  const style = hasFocus ? 'accent' : 'dim';
  return [
    span('─', style),
    span(name, hasFocus ? 'bold' : 'plain'),
    span(filterText === '' ? '' : '─', style),
    span(filterText, 'busy'),
    span(rule, style),
    span(position, 'plain'),
    span('─', style),
  ];
}

/** For example `3 of 107`. While the list is loaded to its end, the progress. */
function positionText(model: Model, list: ListId): string {
  const { paged, selected, isLoadingToEnd } = model.lists[list];
  const { rows, isLowerBound } = totalLength(paged);
  if (!isLoaded(paged) || rows === 0) return '';
  const of = `${formatCount(rows)}${isLowerBound ? '+' : ''}`;
  if (isLoadingToEnd) return ` loading to the end: ${formatCount(knownLength(paged))} of ${of} `;
  return ` ${formatCount(selected + 1)} of ${of} `;
}

/** The line for a row that does not exist or is not loaded. */
function placeholderLine(model: Model, list: ListId, index: number, known: number): TextLine {
  const { paged, problem } = model.lists[list];
  if (problem !== undefined && index === known)
    return textLine(`cannot load: ${problem}; press R to retry`, 'bad');
  if (index < known) return textLine('…', 'dim');
  if (index > 0) return [];
  if (!isLoaded(paged)) return textLine(model.connection.state === 'live' ? 'loading…' : 'not loaded', 'dim');
  return textLine(emptyText(model, list), 'dim');
}

function emptyText({ panel, panels }: Model, list: ListId): string {
  const { query, server } = panels[panel];
  const what = EMPTY_TEXTS[list];
  const ofServer = server === undefined ? '' : ` of ${printable(server)}`;
  return query === '' ? `${what}${ofServer}` : `${what}${ofServer} match ${printable(query)}`;
}

const EMPTY_TEXTS: Readonly<Record<ListId, string>> = {
  servers: 'no servers',
  tools: 'no tools',
  'disabled-tools': 'none',
  prompts: 'no prompts',
  resources: 'no resources',
  'resource-templates': 'no templates',
  subscriptions: 'no subscriptions',
  sessions: 'no clients',
};
