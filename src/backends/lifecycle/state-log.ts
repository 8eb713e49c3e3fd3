import { Logger } from '@nestjs/common';
import type { ConnectionState, ConnectionStatus } from './connection-state.js';
import { causeOf } from './unavailability.js';

/** Logs the connection state of one server. Attempts that fail like the one before are not logged again. */
export class StateLog {
  private readonly logger = new Logger('Backend');
  private logged = '';

  constructor(private readonly server: string) {}

  changed(status: ConnectionStatus, previous: ConnectionState): void {
    const { server } = this;
    const { state, cause } = status;
    const text = `${state} ${cause?.message}`;
    if (state === 'connecting' || text === this.logged) return;
    this.logged = text;
    const entry = { message: `server is ${state}`, server, cause: causeOf(status), reason: cause?.message };
    if (state === 'unresponsive') this.logger.warn({ message: 'server does not answer', server });
    else if (previous === 'unresponsive' && state === 'ready')
      this.logger.log({ message: 'server answers again', server });
    else if (state === 'retrying' || state === 'crash-loop') this.logger.warn(entry);
    else this.logger.log(entry);
  }
}
