import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { ShutdownSettings } from '../config/shutdown-settings.js';
import { McpEndpoint } from './mcp-endpoint.js';
import { MessageReceiver } from './message-receiver.js';
import { SessionPersistence } from './session-persistence.js';
import { Sessions } from './sessions.service.js';

/** Ends the gateway's work in order: nothing new, what runs may finish, then everybody is let go. */
@Injectable()
export class Drain implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Drain');

  constructor(
    private readonly endpoint: McpEndpoint,
    private readonly receiver: MessageReceiver,
    private readonly sessions: Sessions,
    private readonly persistence: SessionPersistence,
    private readonly settings: ShutdownSettings,
  ) {}

  async beforeApplicationShutdown(): Promise<void> {
    this.endpoint.draining = true;
    for (const recipient of this.sessions.recipients) recipient.endNotifications();
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), this.settings.drainMs);
    });
    const outcome = await Promise.race([this.receiver.idle(), deadline]);
    clearTimeout(timer);
    if (outcome === 'late') this.logger.warn({ message: 'requests were cut off by the drain deadline' });
    // What ends from here on ends with the process: clients come back to the next one.
    this.persistence.stop();
    this.sessions.close();
  }
}
