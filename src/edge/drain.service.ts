import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { ShutdownSettings } from '../config/shutdown-settings.js';
import { McpEndpoint } from './mcp-endpoint.js';
import { MessageIntake } from './message-intake.js';
import { SessionKeeper } from './session-keeper.js';
import { Sessions } from './sessions.service.js';

/** Ends the gateway's work in order: nothing new, what runs may finish, then everybody is let go. */
@Injectable()
export class Drain implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Drain');

  constructor(
    private readonly endpoint: McpEndpoint,
    private readonly intake: MessageIntake,
    private readonly sessions: Sessions,
    private readonly keeper: SessionKeeper,
    private readonly settings: ShutdownSettings,
  ) {}

  async beforeApplicationShutdown(): Promise<void> {
    this.endpoint.draining = true;
    for (const session of this.sessions.all()) session.endStanding();
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), this.settings.drainMs);
    });
    const outcome = await Promise.race([this.intake.idle(), deadline]);
    clearTimeout(timer);
    if (outcome === 'late') this.logger.warn({ message: 'requests were cut off by the drain deadline' });
    // What ends from here on ends with the process: clients come back to the next one.
    this.keeper.stop();
    this.sessions.close();
  }
}
