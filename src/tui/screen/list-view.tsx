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
  /** Whether keys move the selection of this list. */
  readonly hasFocus: boolean;
  /** Whether column headings are shown. The second list of a panel has no room for them. */
  readonly hasHeadings: boolean;
}

/** Space for the marker of the selected row. */
const MARGIN = 2;

/** A list: its title, its column headings and the visible rows. */
export function ListView({ model, list, title, width, height, isCurrent, hasFocus, hasHeadings }: Props) {
  const state = model.lists[list];
  const highlight = highlighterFor(list, model.panels[model.panel].query);
  const placed = placeColumns(list, width - MARGIN);
  const rows = Array.from({ length: height }, (_, at) => state.top + at);
  const loadedRows = knownLength(state.paged);
  return (
    <Box flexDirection="column" width={width}>
      <ScreenLine line={titleLine(model, list, title, width, hasFocus)} width={width} />
      {hasHeadings && <ScreenLine line={[span('  '), span(headerLine(placed), 'dim')]} width={width} />}
      {rows.map((index) => {
        const isSelected = index === state.selected && loadedRows > 0 && isCurrent;
        const row = rowAt(state.paged, index);
        const marker = span(isSelected ? '▶ ' : '  ', 'accent');
        const line = row
          ? rowLine(row, placed, highlight, model)
          : placeholderLine(model, list, index, loadedRows);
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
  // The line begins and ends with a piece of the rule.
  const room = Math.max(0, width - textWidth(name) - textWidth(position) - 2 * RULE.length);
  const filterText = truncateEnd(filters.join(RULE), Math.max(0, room - 2));
  const beforeFilter = filterText === '' ? '' : RULE;
  const fill = RULE.repeat(Math.max(0, room - beforeFilter.length - textWidth(filterText)));
  const style = hasFocus ? 'accent' : 'dim';
  return [
    span(RULE, style),
    span(name, hasFocus ? 'bold' : 'plain'),
    span(beforeFilter, style),
    span(filterText, 'busy'),
    span(fill, style),
    span(position, 'plain'),
    span(RULE, style),
  ];
}

const RULE = '─';

/** The position of the selected row, for example `3 of 107`. While the list is loaded to its end, the progress of loading. */
function positionText(model: Model, list: ListId): string {
  const { paged, selected, isLoadingToEnd } = model.lists[list];
  const { rows, isLowerBound } = totalLength(paged);
  if (!isLoaded(paged) || rows === 0) return '';
  const total = `${formatCount(rows)}${isLowerBound ? '+' : ''}`;
  if (isLoadingToEnd) return ` loading to the end: ${formatCount(knownLength(paged))} of ${total} `;
  return ` ${formatCount(selected + 1)} of ${total} `;
}

/** The line for a row that does not exist or is not loaded. */
function placeholderLine(model: Model, list: ListId, index: number, loadedRows: number): TextLine {
  const { paged, problem } = model.lists[list];
  if (problem !== undefined && index === loadedRows)
    return textLine(`cannot load: ${problem}; press R to retry`, 'bad');
  // The page of the row was evicted from memory.
  if (index < loadedRows) return textLine('…', 'dim');
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
