import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import type { JsonText } from '../lib/json-text/json-text.js';

/** From the most talkative to the most urgent. */
export const LOG_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const satisfies readonly LoggingLevel[];

/** What a client gets that has not said what it wants. */
export const DEFAULT_LOG_LEVEL: LoggingLevel = 'info';

export const isLogLevel = (value: unknown): value is LoggingLevel =>
  LOG_LEVELS.includes(value as LoggingLevel);

/**
 * The level at which nobody misses anything. Never less talkative than the default: a client that comes later has not
 * said that it wants less.
 */
export function mostTalkative(levels: Iterable<LoggingLevel>): LoggingLevel {
  const wanted = new Set([DEFAULT_LOG_LEVEL, ...levels]);
  return LOG_LEVELS.find((level) => wanted.has(level)) ?? DEFAULT_LOG_LEVEL;
}

/** The level in the params of a `notifications/message`, where it is one. */
export function levelOf(params: JsonText): LoggingLevel | undefined {
  const { level } = params.toJSON() as { level?: unknown };
  return isLogLevel(level) ? level : undefined;
}

/** Whether a message of this level is for a client that wants that one. */
export const isLogged = (
  level: LoggingLevel | undefined,
  wanted: LoggingLevel = DEFAULT_LOG_LEVEL,
): boolean => level !== undefined && LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(wanted);
