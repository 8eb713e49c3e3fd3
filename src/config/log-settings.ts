import { Choice } from './schema/keys.js';

export const LOG_LEVELS = ['debug', 'log', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What is written to stderr. */
export class LogSettings {
  @Choice(LOG_LEVELS, 'The least important level that is still written.')
  readonly level: LogLevel = 'log';
}
