import { Injectable } from '@nestjs/common';
import { Limits } from '../../config/limits.js';
import { Metrics } from '../../metrics/metrics.js';
import type { StreamObserver } from '../event-stream.js';
import { Sessions } from '../sessions.service.js';
import { UnreadResponses, type UnreadLimits } from '../unread-responses.js';

/** What a slow client may leave unread. */
export interface ResponseSettings {
  /** Maximum queued notifications of one response. */
  readonly queuedEvents: number;
  /** A client that reads nothing for this long is disconnected. */
  readonly stuckMs: number;
  readonly observer: StreamObserver;
}

/** The limits of responses without a session. Unread bytes count together with those of the sessions of the principal. */
@Injectable()
export class ModernResponses {
  readonly settings: ResponseSettings;
  private readonly unreadLimits: UnreadLimits;

  constructor(
    limits: Limits,
    private readonly sessions: Sessions,
    private readonly metrics: Metrics,
  ) {
    const { streamQueue, streamStuckMs, unreadBytesPerPrincipal } = limits;
    this.settings = { queuedEvents: streamQueue, stuckMs: streamStuckMs, observer: metrics };
    this.unreadLimits = { unreadBytesPerSession: Infinity, unreadBytesPerPrincipal, streamStuckMs };
  }

  /** Counts the unread bytes of one response. */
  unreadOf(quotaKey: string): UnreadResponses {
    return new UnreadResponses(
      this.unreadLimits,
      () => quotaKey,
      this.sessions.unreadByPrincipal,
      () => this.metrics.countStreamEnd('stuck'),
    );
  }
}
