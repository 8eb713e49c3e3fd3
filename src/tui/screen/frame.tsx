import { printable } from '../../client/printable.js';
import { formatCompact } from '../../client/format.js';
import { truncateEnd, truncateMiddle, textWidth } from '../../client/terminal-text.js';
import { availableCommands } from '../model/row-commands.js';
import {
  selectedRow,
  PANELS,
  panelDefinition,
  UNKNOWN_TOTAL,
  type Model,
  type PanelId,
  type TuiAction,
} from '../model/model.js';
import { span, type TextSpan, type TextLine } from '../model/text-line.js';
import { VERSION } from '../../version.js';
import { ScreenLine } from './screen-line.js';

interface Props {
  readonly model: Model;
  readonly width: number;
}

/** Name and address of the gateway, and the state of the connection to it. */
export function Header({ model, width }: Props) {
  const state = connectionSpan(model);
  const name = ' Gatehouse ';
  const version = `${VERSION}  `;
  const otherWidth = name.length + version.length + textWidth(state.text);
  const [minGap, rightMargin] = [1, 1];
  const room = width - otherWidth - minGap - rightMargin;
  const address = truncateMiddle(printable(model.gateway), Math.max(0, room));
  const gap = ' '.repeat(Math.max(minGap, width - otherWidth - textWidth(address) - rightMargin));
  const line = [span(name, 'bold'), span(version, 'dim'), span(address, 'accent'), span(gap), state];
  return <ScreenLine line={line} width={width} />;
}

function connectionSpan({ connection: { state } }: Model): TextSpan {
  if (state === 'live') return span('● live', 'good');
  return state === 'lost' ? span('✖ lost', 'bad') : span('○ connecting', 'busy');
}

interface TabStyle {
  readonly gap: string;
  readonly hasShortTitles?: boolean;
  readonly hasTotals?: boolean;
}

/** From the widest style to the narrowest. The first one that fits is used. */
const TAB_STYLES: readonly TabStyle[] = [
  { gap: '  ', hasTotals: true },
  { gap: '', hasTotals: true },
  { gap: '', hasTotals: true, hasShortTitles: true },
  { gap: '', hasShortTitles: true },
];

/** The panels with the number of entries in each. */
export function Tabs({ model, width }: Props) {
  const lines = TAB_STYLES.map((style) => tabsLine(model, style));
  return <ScreenLine line={lines.find((line) => lineWidth(line) <= width) ?? lines.at(-1)!} width={width} />;
}

const lineWidth = (line: TextLine): number => line.reduce((sum, { text }) => sum + textWidth(text), 0);

const tabsLine = (model: Model, { gap, hasShortTitles, hasTotals }: TabStyle): TextLine =>
  PANELS.flatMap(({ id, title, shortTitle = title }, at): TextLine => {
    const total = hasTotals ? totalOf(model, id) : undefined;
    const name = hasShortTitles ? shortTitle : title;
    const label = ` ${at + 1} ${name}${total === undefined ? '' : ` ${formatCompact(total)}`}${hasTotals ? ' ' : ''}`;
    const shown =
      id === model.panel
        ? [span('[', 'accent'), span(label.trim(), 'bold'), span(']', 'accent')]
        : [span(label, 'dim')];
    return [span(at === 0 ? gap.slice(1) : gap), ...shown];
  });

function totalOf({ servers, totals, lists }: Model, panel: PanelId): number | undefined {
  const sum = (counted: 'tools' | 'prompts'): number =>
    servers.reduce((total, { counts }) => total + counts[counted], 0);
  const isKnown = lists.servers.paged.pages.length > 0;
  if (panel === 'servers') return isKnown ? servers.length : undefined;
  if (panel === 'tools' || panel === 'prompts') return isKnown ? sum(panel) : undefined;
  const total = totals[panelDefinition(panel).main]?.total;
  return total === UNKNOWN_TOTAL ? undefined : total;
}

/**
 * Shows the first of these that applies: the search, a lost connection, the running action, the current notice, or the
 * reason why the selected server is not ready.
 */
export function NoticeLine({ model, width }: Props) {
  return <ScreenLine line={noticeOf(model, width)} width={width} />;
}

function noticeOf(model: Model, width: number): TextLine {
  const { overlay, connection, notice, runningAction, now, panels, panel } = model;
  if (overlay?.kind === 'search') {
    const query = printable(panels[panel].query);
    return [span(' /', 'accent'), span(query.slice(-Math.max(10, width - 30)), 'bold'), span('█', 'accent')];
  }
  if (connection.state === 'lost') {
    const seconds = Math.max(0, Math.ceil((connection.retryAt - now) / 1000));
    const next = seconds === 0 ? 'reconnecting' : `reconnecting in ${seconds}s`;
    return [
      span(
        truncateEnd(
          ` Connection lost, ${next}; data may be out of date: ${printable(connection.problem)}`,
          width,
        ),
        'bad',
      ),
    ];
  }
  if (runningAction) return [span(truncateEnd(` ${describeAction(runningAction)}…`, width), 'busy')];
  if (notice) return [span(truncateEnd(` ${printable(notice.text)}`, width), notice.tone)];
  return reasonLine(model, width);
}

/** Why the selected server is not ready. The list has no room for long reasons. */
function reasonLine(model: Model, width: number): TextLine {
  if (model.details.isOpen) return [];
  const row = selectedRow(model);
  if (row?.kind !== 'server' || row.item.state === 'ready' || row.item.reason === undefined) return [];
  return [span(truncateEnd(` ${printable(`${row.item.id}: ${row.item.reason}`)}`, width), 'dim')];
}

function describeAction(action: TuiAction): string {
  if (action.kind === 'end-subscription') return 'ending the subscription';
  if (action.kind === 'end-session') return 'ending the session';
  const verb = { enable: 'enabling', disable: 'disabling', reconnect: 'reconnecting' }[action.verb];
  return `${verb} ${printable(action.kind === 'tool' ? action.tool : action.server)}`;
}

/** The keys that work now. If there is no room for all of them, the last ones are left out, but never help and quit. */
export function KeyLine({ model, width }: Props) {
  const keys = keysFor(model);
  const helpAndQuit = model.overlay ? [] : HELP_AND_QUIT;
  let room = width - helpAndQuit.reduce((sum, label) => sum + labelWidth(label), 0);
  const fitting: KeyLabel[] = [];
  for (const label of keys) {
    room -= labelWidth(label);
    if (room < 0) break;
    fitting.push(label);
  }
  const line = [...fitting, ...helpAndQuit].flatMap(([key, label]) => [
    span(` ${key}`, 'accent'),
    span(` ${label} `, 'dim'),
  ]);
  return <ScreenLine line={line} width={width} />;
}

type KeyLabel = readonly [key: string, label: string];

const labelWidth = ([key, label]: KeyLabel): number => textWidth(key) + textWidth(label) + 3;

/** These keys are not shown while an overlay is open, because the overlay uses them for something else or ignores them. */
const HELP_AND_QUIT: readonly KeyLabel[] = [
  ['?', 'help'],
  ['q', 'quit'],
];
const IN_SEARCH: readonly KeyLabel[] = [
  ['Enter', 'apply'],
  ['Esc', 'cancel'],
  ['^U', 'clear'],
];
const IN_CONFIRM: readonly KeyLabel[] = [
  ['y', 'yes'],
  ['n', 'no'],
];
const IN_SERVER_FILTER: readonly KeyLabel[] = [
  ['↑↓', 'move'],
  ['Enter', 'choose'],
  ['Esc', 'cancel'],
];
const IN_DETAILS: readonly KeyLabel[] = [
  ['↑↓', 'scroll'],
  ['←', 'back to list'],
];

function keysFor(model: Model): readonly KeyLabel[] {
  const { overlay, details } = model;
  switch (overlay?.kind) {
    case 'search':
      return IN_SEARCH;
    case 'confirm':
      return IN_CONFIRM;
    case 'server-filter':
      return IN_SERVER_FILTER;
    case 'help':
      return [['Esc', 'close']];
    default:
      return details.hasFocus ? IN_DETAILS : panelKeys(model);
  }
}

function panelKeys(model: Model): readonly KeyLabel[] {
  const { details, panel, panels } = model;
  const { second } = panelDefinition(panel);
  const otherSection = panels[panel].section === 'second' ? 'main list' : second?.label;
  return [
    ['Enter', details.isOpen ? 'close' : 'details'],
    ...availableCommands(model).map(({ key, label }): KeyLabel => [key, label]),
    ['/', 'search'],
    ...(otherSection === undefined ? [] : [['t', otherSection] as const]),
    ...(details.isOpen ? [['→', 'scroll'] as const] : []),
    ['Tab', 'panel'],
    ['↑↓', 'move'],
  ];
}
