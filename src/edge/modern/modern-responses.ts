import { Injectable } from '@nestjs/common';
import { Limits } from '../../config/limits.js';
import { Metrics } from '../../metrics/metrics.js';
import type { StreamObserver } from '../event-stream.js';
import { Sessions } from '../sessions.service.js';
import { UnreadResponses, type UnreadLimits } from '../unread-responses.js';

/** The limits for a response whose client reads slowly. */
export interface ResponseSettings {
  /** Maximum number of queued notifications of one response. */
  readonly queuedEvents: number;
  /** A client that reads nothing for this time is disconnected. */
  readonly stuckMs: number;
  readonly observer: StreamObserver;
}

/**
 * The limits for responses without a session. Their unread bytes count together with those of the principal's sessions.
 */
@Injectable()
export class ModernResponses {
  readonly settings: ResponseSettings;
  private readonly unreadLimits: UnreadLimits;

  constructor(
    limits: Limits,
    private readonly sessions: Sessions,
    metrics: Metrics,
  ) {
    const { streamQueue, streamStuckMs, unreadBytesPerPrincipal } = limits;
    this.settings = { queuedEvents: streamQueue, stuckMs: streamStuckMs, observer: metrics };
    this.unreadLimits = { unreadBytesPerSession: Infinity, unreadBytesPerPrincipal, streamStuckMs };
  }

  /** Returns the counter for the unread bytes of the response to one request. */
  unreadOf(request: { readonly quotaKey: string }): UnreadResponses {
    const { observer } = this.settings;
    return new UnreadResponses(this.unreadLimits, request, this.sessions.unreadByPrincipal, observer);
  }
}
