import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { ShutdownSettings } from '../config/shutdown-settings.js';
import { McpEndpoint } from './mcp-endpoint.js';
import { MessageReceiver } from './message-receiver.js';
import { SessionPersistence } from './session-persistence.js';
import { Sessions } from './sessions.service.js';

/** Shutdown in order: refuse new requests, end notification streams, wait for running requests, close sessions. */
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
    this.endpoint.isDraining = true;
    for (const recipient of this.sessions.recipients) recipient.endNotifications();
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), this.settings.drainMs);
    });
    const outcome = await Promise.race([this.receiver.whenIdle(), deadline]);
    clearTimeout(timer);
    if (outcome === 'late') this.logger.warn({ message: 'requests were cut off by the drain deadline' });
    // Stopped first, so that closing the sessions does not remove their records: the next process restores them.
    this.persistence.stop();
    this.sessions.close();
  }
}
