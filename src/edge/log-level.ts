import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import type { JsonText } from '../core/json-text.js';

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

export const mostTalkative = (levels: Iterable<LoggingLevel>): LoggingLevel | undefined => {
  const ranks = [...levels].map((level) => LOG_LEVELS.indexOf(level));
  return ranks.length === 0 ? undefined : LOG_LEVELS[Math.min(...ranks)];
};

/** Whether the params of a `notifications/message` are at or above a level. */
export function isLogged(params: JsonText, wanted: LoggingLevel = DEFAULT_LOG_LEVEL): boolean {
  const { level } = params.toJSON() as { level?: unknown };
  return isLogLevel(level) && LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(wanted);
}
