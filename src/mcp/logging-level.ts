import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import type { JsonText } from '../lib/json-text/json-text.js';

/** From the most verbose to the most severe. */
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

/** The level that applies to a call whose client has set none. */
const DEFAULT_LOGGING_LEVEL: LoggingLevel = 'info';

export const isLoggingLevel = (value: unknown): value is LoggingLevel =>
  LOGGING_LEVELS.includes(value as LoggingLevel);

/** The most verbose of these levels and of the default level, which applies to clients that set none. */
export function mostVerbose(levels: Iterable<LoggingLevel>): LoggingLevel {
  const candidates = new Set([DEFAULT_LOGGING_LEVEL, ...levels]);
  return LOGGING_LEVELS.find((level) => candidates.has(level)) ?? DEFAULT_LOGGING_LEVEL;
}

/** The level in the params of a `notifications/message`; undefined if it is not valid. */
export function loggingLevelIn(params: JsonText): LoggingLevel | undefined {
  const { level } = params.toJSON() as { level?: unknown };
  return isLoggingLevel(level) ? level : undefined;
}

/** Whether a log message of this level passes the threshold. A message without a valid level never does. */
export const isAtLeast = (
  level: LoggingLevel | undefined,
  threshold: LoggingLevel = DEFAULT_LOGGING_LEVEL,
): boolean => level !== undefined && LOGGING_LEVELS.indexOf(level) >= LOGGING_LEVELS.indexOf(threshold);

/** Whether a notification may be sent to a client with this log level. Only log messages are filtered. */
export const passesLogLevel = (
  logLevel: LoggingLevel | undefined,
  method: string,
  params: JsonText | undefined,
): boolean =>
  method !== 'notifications/message' || (params !== undefined && isAtLeast(loggingLevelIn(params), logLevel));
