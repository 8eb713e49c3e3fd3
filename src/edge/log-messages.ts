import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { ServerNotification } from '../backends/link/link.js';
import { Backends } from '../backends/backends.service.js';
import { JsonText } from '../lib/json-text/json-text.js';
import { notificationMessage } from '../mcp/json-rpc.js';
import { eventFrame } from '../mcp/event-frame.js';
import { isAtLeast, loggingLevelIn, mostVerbose } from './logging-level.js';
import type { Session } from './session.js';
import { Sessions } from './sessions.service.js';

/** Log messages that belong to no call go to every client that set a level and may see the server. */
@Injectable()
export class LogMessages implements OnModuleInit {
  constructor(
    private readonly sessions: Sessions,
    private readonly backends: Backends,
  ) {}

  onModuleInit(): void {
    this.backends.onNotification((server, notification) => this.broadcast(server, notification));
  }

  /** Servers are asked for what the most talkative client wants; the rest is filtered here. */
  setLevel(client: Session, level: LoggingLevel): void {
    client.logLevel = level;
    this.updateServerLevel();
    client.onClose(this.updateServerLevel);
  }

  private readonly updateServerLevel = (): void => {
    this.backends.setLogLevel(
      mostVerbose([...this.sessions.all()].flatMap(({ logLevel }) => logLevel ?? [])),
    );
  };

  private broadcast(server: string, { method, paramsText }: ServerNotification): void {
    if (method !== 'notifications/message' || paramsText === undefined) return;
    const level = loggingLevelIn(new JsonText(paramsText));
    const frame = eventFrame(notificationMessage(method, paramsText));
    for (const session of this.sessions.all()) {
      const { logLevel, scope } = session;
      if (logLevel !== undefined && scope.allows(server) && isAtLeast(level, logLevel))
        session.deliver(frame, { droppable: true, kind: 'message', server });
    }
  }
}
