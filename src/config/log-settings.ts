import { Choice, Integer } from './schema/keys.js';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const LOG_FORMATS = ['auto', 'json', 'text'] as const;
const CALL_LOGGING = ['off', 'sampled', 'all'] as const;
export type CallLogging = (typeof CALL_LOGGING)[number];

/** Logging to stderr. */
export class LogSettings {
  @Choice(LOG_LEVELS, 'Lowest level that is logged. `log` is another name of `info`.', { log: 'info' })
  readonly level: LogLevel = 'info';

  @Choice(
    LOG_FORMATS,
    'Format of the lines: `json`, one object per line; `text`, for people; `auto`, text on a terminal and JSON elsewhere.',
  )
  readonly format: (typeof LOG_FORMATS)[number] = 'auto';

  @Choice(
    CALL_LOGGING,
    'Whether requests that succeed are logged, one line each: `off`, one in `log.sample` (`sampled`), or `all`. Requests that ' +
      'fail are always logged, at most 50 a second.',
  )
  readonly calls: CallLogging = 'off';

  @Integer(1, 1_000_000, 'With `calls: sampled`, one of this number of requests is logged.')
  readonly sample: number = 100;
}
