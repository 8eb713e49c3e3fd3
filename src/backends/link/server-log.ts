import { Logger } from '@nestjs/common';
import { JsonText } from '../../lib/json-text/json-text.js';
import type { Link, ServerNotification } from './link.js';

/** What one server logs over MCP: how much of it is wanted, and whom it is for. */
export class ServerLog {
  private readonly logger = new Logger('Backend');
  private level: string | undefined;

  constructor(
    private readonly server: string,
    private readonly timeoutMs: () => number,
    /** Takes what belongs to nobody's call: it is for all who may see the server. */
    private readonly forAll: (notification: ServerNotification) => void,
  ) {}

  /** False when that is the level already. */
  setLevel(level: string): boolean {
    if (level === this.level) return false;
    this.level = level;
    return true;
  }

  /** Tells the server at the other end which level is wanted. */
  apply(link: Link): void {
    if (this.level === undefined || !link.facts.capabilities.logging) return;
    const params = JSON.stringify({ level: this.level });
    link
      .request({ method: 'logging/setLevel', params, timeoutMs: this.timeoutMs() })
      .catch((error) =>
        this.logger.warn({ message: 'logging/setLevel failed', server: this.server, cause: String(error) }),
      );
  }

  /** True when it was a log message. It goes to the client it belongs to. */
  take(notification: ServerNotification): boolean {
    const { method, paramsText, channel, ambiguous } = notification;
    if (method !== 'notifications/message') return false;
    if (paramsText === undefined) return true;
    if (channel) channel.notify(method, new JsonText(paramsText));
    // It may carry what one client sent, and there is no telling which: better nobody than the wrong one.
    else if (ambiguous)
      this.logger.debug({ message: 'log message of an unknown call dropped', server: this.server });
    else this.forAll(notification);
    return true;
  }
}
