import type { AdminDecision, ServerSummary, SessionItem } from './admin-types.js';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The time since `since` in at most two units: `3d4h`, `12m`, `5s`. */
export function formatAge(since: string, now: number): string {
  const ms = Math.max(0, now - Date.parse(since));
  if (Number.isNaN(ms)) return '-';
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)}s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)}m`;
  if (ms < DAY_MS) return inTwoUnits(ms, HOURS, MINUTES);
  return inTwoUnits(ms, DAYS, HOURS);
}

interface TimeUnit {
  readonly ms: number;
  readonly name: string;
}

const DAYS: TimeUnit = { ms: DAY_MS, name: 'd' };
const HOURS: TimeUnit = { ms: HOUR_MS, name: 'h' };
const MINUTES: TimeUnit = { ms: MINUTE_MS, name: 'm' };

/** The whole large units of the duration, followed by the whole small units of the rest, if there are any. */
function inTwoUnits(ms: number, large: TimeUnit, small: TimeUnit): string {
  const remaining = Math.floor((ms % large.ms) / small.ms);
  return `${Math.floor(ms / large.ms)}${large.name}${remaining === 0 ? '' : `${remaining}${small.name}`}`;
}

/** From this value on, values are rounded to an integer, because 9.96 with one decimal would be 10.0. */
const MIN_ROUNDED_VALUE = 9.95;

/** `999`, `1.2k`, `100k`, `1.5M`: short enough for a tab or a column. */
export function formatCompact(number: number): string {
  if (number < 1000) return String(number);
  // 999,500 would be rounded to 1000k.
  const [value, unit] = number < 999_500 ? [number / 1000, 'k'] : [number / 1_000_000, 'M'];
  return `${value < MIN_ROUNDED_VALUE ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)}${unit}`;
}

/** `1.2 kB`; an empty string if the value is not a size. */
export function formatBytes(bytes: unknown): string {
  if (typeof bytes !== 'number' || !Number.isFinite(bytes) || bytes < 0) return '';
  if (bytes < 1000) return `${Math.round(bytes)} B`;
  const units = ['kB', 'MB', 'GB', 'TB', 'PB'];
  const power = Math.min(units.length, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${value < MIN_ROUNDED_VALUE ? value.toFixed(1) : Math.round(value)} ${units[power - 1]}`;
}

export const formatCount = (number: number): string => number.toLocaleString('en-US');

/** `1 tool`, `2 tools`. */
export const pluralize = (number: number, singular: string, plural = `${singular}s`): string =>
  `${formatCount(number)} ${number === 1 ? singular : plural}`;

/** The value if it is a text, otherwise an empty string. */
export const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A heading and the lines below it in one line; an empty string if the value is not a text. */
export function oneLine(value: unknown): string {
  const [head = '', ...rest] = textOrEmpty(value).split(/\s*\n\s*/);
  return rest.length === 0 ? head : `${head} ${rest.join('; ')}`;
}

export const firstLine = (value: unknown): string => textOrEmpty(value).trim().split('\n', 1)[0]!;

/**
 * For example `ready, tools/list failed: fetch failed`. A ready server has a reason if one of its lists could not be
 * fetched.
 */
export const formatState = ({ state, reason }: Pick<ServerSummary, 'state' | 'reason'>): string =>
  state === 'ready' && reason !== undefined ? `ready, ${reason}` : state;

/** How updates of resources come. If none can come, the text names the configuration keys with which they come. */
export function formatUpdates({ updates }: Pick<ServerSummary, 'updates'>): string | undefined {
  if (updates === 'none') return 'no updates can come; set watch.pollMs';
  if (updates === 'unsolicited')
    return 'no updates can come unless the server sends them unasked; set subscribe: try or watch.pollMs';
  return updates;
}

type StateTone = 'good' | 'busy' | 'bad' | 'off';

const TONES: Readonly<Partial<Record<ServerSummary['state'], StateTone>>> = {
  ready: 'good',
  connecting: 'busy',
  retrying: 'bad',
  'crash-loop': 'bad',
  unresponsive: 'bad',
};

export const stateTone = (state: ServerSummary['state']): StateTone => TONES[state] ?? 'off';

/**
 * For example `disabled by admin at 2026-11-18T09:30:00.000Z, overrules the file`. Parts that are not known are left out.
 */
export function formatDecision(decision: AdminDecision): string {
  const { change, by, at } = decision;
  const author = by === undefined ? '' : ` by ${by}`;
  const effect = formatDecisionEffect(decision);
  return `${change}${author}${at === undefined ? '' : ` at ${at}`}${effect === '' ? '' : `, ${effect}`}`;
}

/** Empty for a decision that applies and does not overrule the configuration file. */
export function formatDecisionEffect({ effect, overrules, emergency }: AdminDecision): string {
  if (effect === 'ignored') return 'ignored: decisions.policy is file';
  if (effect === 'unused') return 'unused: its subject is not defined now';
  if (emergency) return 'emergency switch';
  return overrules ? 'overrules the file' : '';
}

/** The list changes that are sent on a listen stream. Undefined for a session, whose client is sent all list changes. */
export function formatListen({
  kind,
  listChanges = [],
}: Pick<SessionItem, 'kind' | 'listChanges'>): string | undefined {
  if (kind !== 'listen') return undefined;
  return listChanges.length === 0 ? 'no list changes' : `changes of ${listChanges.join(', ')}`;
}

/** `payments → files, github`; without a project, only the servers. */
export function formatScope({ project, servers }: SessionItem['scope'][number]): string {
  const names = servers.length === 0 ? 'no servers' : servers.join(', ');
  return project === undefined ? names : `${project} → ${names}`;
}

/** `now` while the client has a request or a stream open. Otherwise the time since its last request. */
export const formatLastSeen = ({ lastSeen, hasStream, inFlight }: SessionItem, now: number): string =>
  hasStream || inFlight > 0 ? 'now' : formatAge(lastSeen, now);
