import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import type { JsonText } from '../lib/json-text/json-text.js';

/** From the most talkative to the most urgent. */
export const LOGGING_LEVELS = [
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
export const DEFAULT_LOGGING_LEVEL: LoggingLevel = 'info';

export const isLoggingLevel = (value: unknown): value is LoggingLevel =>
  LOGGING_LEVELS.includes(value as LoggingLevel);

/**
 * The level at which nobody misses anything. Never less talkative than the default: a client that comes later has not
 * said that it wants less.
 */
export function mostVerbose(levels: Iterable<LoggingLevel>): LoggingLevel {
  const wanted = new Set([DEFAULT_LOGGING_LEVEL, ...levels]);
  return LOGGING_LEVELS.find((level) => wanted.has(level)) ?? DEFAULT_LOGGING_LEVEL;
}

/** The level in the params of a `notifications/message`, where it is one. */
export function loggingLevelIn(params: JsonText): LoggingLevel | undefined {
  const { level } = params.toJSON() as { level?: unknown };
  return isLoggingLevel(level) ? level : undefined;
}

/** Whether a message of this level is for a client that wants that one. */
export const isAtLeast = (
  level: LoggingLevel | undefined,
  wanted: LoggingLevel = DEFAULT_LOGGING_LEVEL,
): boolean => level !== undefined && LOGGING_LEVELS.indexOf(level) >= LOGGING_LEVELS.indexOf(wanted);
