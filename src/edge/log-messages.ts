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

/** How long the level of requests without a session still counts after the last of these requests has ended. */
const LEVEL_LINGER_MS = 60_000;

/** The running requests without a session that have the same log level. */
interface LevelUse {
  runningCount: number;
  /** Runs while `runningCount` is 0. The level counts until the timer ends. */
  timer: NodeJS.Timeout | undefined;
}

/**
 * Sets the log level of servers to the most verbose level that any client has set. A log message that belongs to no
 * call is sent to each recipient that has set a level and may see the server.
 */
@Injectable()
export class LogMessages implements OnModuleInit {
  /** By level: the number of sessions that have set it, plus one if requests without a session have it. */
  private readonly counts = new Map<LoggingLevel, number>();
  /** By level: the requests without a session that have it. */
  private readonly requestLevels = new Map<LoggingLevel, LevelUse>();
  /** The level that servers have been told. */
  private serverLevel: LoggingLevel | undefined;

  constructor(
    private readonly recipients: NotificationRecipients,
    private readonly fanOut: FanOut,
    private readonly backends: Backends,
  ) {}

  onModuleInit(): void {
    this.backends.onNotification((server, notification) => this.broadcast(server, notification));
  }

  /** Sets the level of a session. Servers may send messages below this level, which `broadcast` does not deliver. */
  setLevel(session: Session, level: LoggingLevel): void {
    const previous = session.logLevel;
    session.logLevel = level;
    this.count(level, 1);
    if (previous) this.count(previous, -1);
    this.updateServerLevel();
    // The listener was added when the session set its first level.
    if (previous) return;
    session.onClose(() => {
      this.count(session.logLevel!, -1);
      this.updateServerLevel();
    });
  }

  /**
   * Counts the level of a request without a session. Returns the function to call when the request ends. The level
   * still counts for `LEVEL_LINGER_MS` after the request, because each change of the level is a request to every server
   * of the 2025 era.
   */
  beginRequest(level: LoggingLevel): () => void {
    let levelUse = this.requestLevels.get(level);
    if (!levelUse) {
      levelUse = { runningCount: 0, timer: undefined };
      this.requestLevels.set(level, levelUse);
      this.count(level, 1);
      this.updateServerLevel();
    }
    clearTimeout(levelUse.timer);
    levelUse.runningCount++;
    return () => this.endRequest(level, levelUse);
  }

  private endRequest(level: LoggingLevel, levelUse: LevelUse): void {
    if (--levelUse.runningCount > 0) return;
    levelUse.timer = setTimeout(() => {
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
