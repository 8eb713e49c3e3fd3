import { Logger } from '@nestjs/common';
import { shorten } from '../../core/errors.js';
import type { ConnectionState, ConnectionStatus } from './connection-state.js';
import { causeOf } from './unavailability.js';

/** Maximum lines of stderr in the log entry of a failure. */
const MAX_LOGGED_LINES = 5;
/** The length to which each of these lines and the reason are cut. */
const MAX_LINE_LENGTH = 500;

/**
 * Logs the connection state of one server. A failure is not logged again as long as its state, message and last line on stderr
 * stay the same.
 */
export class StateLog {
  private readonly logger = new Logger('Backend');
  /** Identifies the last logged state. */
  private lastLogged = '';

  constructor(private readonly server: string) {}

  /** To be called after each change of the state. `stderr` are the last lines of the process whose failure changed the state. */
  changed(status: ConnectionStatus, previous: ConnectionState, stderr: readonly string[] = []): void {
    const { server } = this;
    const { state, error } = status;
    const reason = error && shorten(error.message, MAX_LINE_LENGTH);
    const isFailure = state === 'retrying' || state === 'crash-loop';
    const text = `${state} ${error?.message} ${isFailure ? stderr.at(-1) : ''}`;
    if (state === 'connecting' || text === this.lastLogged) return;
    this.lastLogged = text;
    const entry = { message: `server is ${state}`, server, cause: causeOf(status), reason };
    if (state === 'unresponsive') this.logger.warn({ message: 'server does not answer', server });
    else if (previous === 'unresponsive' && state === 'ready')
      this.logger.log({ message: 'server answers again', server });
    else if (isFailure) this.logger.warn({ ...entry, ...failureFields(status, stderr) });
    else this.logger.log(entry);
  }
}

function failureFields(
  { since, downSince = since, attempts, nextAttemptAt = since }: ConnectionStatus,
  stderr: readonly string[],
): object {
  const lines = stderr.slice(-MAX_LOGGED_LINES).map((line) => line.slice(0, MAX_LINE_LENGTH));
  return {
    downSince: new Date(downSince).toISOString(),
    attempts,
    nextAttemptInMs: Math.round(nextAttemptAt - since),
    ...(lines.length > 0 && { stderr: lines }),
  };
}
