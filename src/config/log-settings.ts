import { Choice } from './schema/keys.js';

export const LOG_LEVELS = ['debug', 'log', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Logging to stderr. */
export class LogSettings {
  @Choice(LOG_LEVELS, 'Lowest level that is logged.')
  readonly level: LogLevel = 'log';
}
