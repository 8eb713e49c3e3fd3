import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { ServerNotification } from '../backends/link/link.js';
import { Backends } from '../backends/backends.service.js';
import { JsonText } from '../lib/json-text/json-text.js';
import { notificationFrame } from '../mcp/event-frame.js';
import { FanOut } from '../mcp/fan-out.js';
import { isAtLeast, loggingLevelIn, mostVerbose } from '../mcp/logging-level.js';
import { NotificationRecipients } from './notification-recipients.js';
import type { Session } from './session.js';

/** How long servers keep the level of requests without a session after the last of them. */
const LEVEL_LINGER_MS = 60_000;

interface LevelUse {
  /** The number of running requests with this level. */
  running: number;
  /** Runs while there are none. */
  timer: NodeJS.Timeout | undefined;
}

/** Sends log messages that belong to no call to every recipient that set a level and may see the server. */
@Injectable()
export class LogMessages implements OnModuleInit {
  /** The number of sessions that have set each level, and one more for a level that requests without a session have. */
  private readonly counts = new Map<LoggingLevel, number>();
  private readonly requestLevels = new Map<LoggingLevel, LevelUse>();
  private serverLevel: LoggingLevel | undefined;

  constructor(
    private readonly recipients: NotificationRecipients,
    private readonly fanOut: FanOut,
    private readonly backends: Backends,
  ) {}

  onModuleInit(): void {
    this.backends.onNotification((server, notification) => this.broadcast(server, notification));
  }

  /** Sets the level of a session. Servers get the most verbose level of all sessions; `broadcast` filters for each. */
  setLevel(session: Session, level: LoggingLevel): void {
    const previous = session.logLevel;
    session.logLevel = level;
    this.count(level, 1);
    if (previous) this.count(previous, -1);
    this.updateServerLevel();
    if (previous) return;
    session.onClose(() => {
      this.count(session.logLevel!, -1);
      this.updateServerLevel();
    });
  }

  /**
   * Servers of 2025 get the level of a request without a session as they get that of a session, but it does not end with the
   * request: each change is a request to every server. Returns the function to be called when the request ends.
   */
  beginRequest(level: LoggingLevel): () => void {
    let use = this.requestLevels.get(level);
    if (!use) {
      use = { running: 0, timer: undefined };
      this.requestLevels.set(level, use);
      this.count(level, 1);
      this.updateServerLevel();
    }
    clearTimeout(use.timer);
    use.running++;
    return () => this.endRequest(level, use);
  }

  private endRequest(level: LoggingLevel, use: LevelUse): void {
    if (--use.running > 0) return;
    use.timer = setTimeout(() => {
      this.requestLevels.delete(level);
      this.count(level, -1);
      this.updateServerLevel();
    }, LEVEL_LINGER_MS).unref();
  }

  private count(level: LoggingLevel, change: 1 | -1): void {
    const count = (this.counts.get(level) ?? 0) + change;
    if (count > 0) this.counts.set(level, count);
    else this.counts.delete(level);
  }

  private updateServerLevel(): void {
    const level = mostVerbose(this.counts.keys());
    if (level === this.serverLevel) return;
    this.serverLevel = level;
    this.backends.setLogLevel(level);
  }

  private broadcast(server: string, { method, paramsText }: ServerNotification): void {
    if (method !== 'notifications/message' || paramsText === undefined) return;
    const level = loggingLevelIn(new JsonText(paramsText));
    this.fanOut.deliver({
      recipients: () =>
        this.recipients.matching(
          ({ logLevel, scope }) =>
            logLevel !== undefined && scope.allows(server) && isAtLeast(level, logLevel),
        ),
      createEvent: () => ({
        frame: notificationFrame(method, 'message', paramsText.length, () => paramsText),
        droppable: true,
        server,
      }),
    });
  }
}
