import { Logger } from '@nestjs/common';
import { JsonText } from '../../lib/json-text/json-text.js';
import type { Link, ServerNotification } from './link.js';

/** Handles the MCP logging of one server: sets the log level at the server and sends its log messages to clients. */
export class ServerLog {
  private readonly logger = new Logger('Backend');
  private level: string | undefined;

  constructor(
    private readonly server: string,
    private readonly request: (link: Link, method: string, params: string) => Promise<unknown>,
    /** Sends a log message to all clients that may see the server. Used for a message that belongs to no call. */
    private readonly broadcast: (notification: ServerNotification) => void,
  ) {}

  /** Returns false when the level does not change. */
  setLevel(level: string): boolean {
    if (level === this.level) return false;
    this.level = level;
    return true;
  }

  /** Sends the level over a link. Not needed in the 2026 era, in which each request has the log level of its client. */
  apply(link: Link): void {
    const { facts, era } = link;
    if (this.level === undefined || !facts.capabilities.logging || era.name === '2026') return;
    const params = JSON.stringify({ level: this.level });
    this.request(link, 'logging/setLevel', params).catch((error) =>
      this.logger.warn({ message: 'logging/setLevel failed', server: this.server, cause: String(error) }),
    );
  }

  /** Sends a log message to its client or to all clients. Returns false when the notification is not a log message. */
  handle(notification: ServerNotification): boolean {
    const { method, paramsText, channel } = notification;
    if (method !== 'notifications/message') return false;
    if (paramsText === undefined) return true;
    if (channel) channel.notify(method, new JsonText(paramsText));
    else this.broadcast(notification);
    return true;
  }
}
