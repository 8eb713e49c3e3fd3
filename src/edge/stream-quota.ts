import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Limits } from '../config/limits.js';
import { GatewayError } from '../core/errors.js';
import { Metrics } from '../metrics/metrics.js';
import { PrincipalQuota } from '../state/principal-quota.js';
import { Quotas } from '../state/quotas.js';
import type { Session } from './session.js';

/**
 * Limits the open event streams of each principal. All streams that the client of a session opened with GET count as
 * one, because a client may reconnect before its earlier connection is closed. Each listen stream counts as one.
 * Streams that answer a call do not count, because the limits on calls apply to them.
 */
@Injectable()
export class StreamQuota {
  private readonly quota: PrincipalQuota;
  /** By session: the number of its open streams. */
  private readonly openCounts = new Map<Session, number>();

  constructor(limits: Limits, quotas: Quotas, metrics: Metrics) {
    const limit = { name: 'streams', limit: limits.streamsPerPrincipal, noun: 'event streams' };
    this.quota = new PrincipalQuota(quotas, limit, () => metrics.countRefusal('streamsPerPrincipal'));
  }

  /**
   * Counts the session until the last of its streams is closed. `response` is a new stream. Throws if the limit is
   * reached.
   */
  claim(session: Session, response: ServerResponse): void {
    const { quotaKey } = session;
    const isFirst = !this.openCounts.has(session);
    if (isFirst && !this.quota.claim(quotaKey)) {
      const { message, data } = this.quota.refuse();
      throw new GatewayError('too-many-connections', message, data);
    }
    this.openCounts.set(session, (this.openCounts.get(session) ?? 0) + 1);
    response.once('close', () => {
      const remaining = this.openCounts.get(session)! - 1;
      if (remaining > 0) this.openCounts.set(session, remaining);
      else this.release(session, quotaKey);
    });
  }

  /** Counts a listen stream until `releaseListen`. Throws if the limit is reached. */
  claimListen(quotaKey: string): void {
    if (!this.quota.claim(quotaKey)) throw this.quota.refuse();
  }

  releaseListen(quotaKey: string): void {
    this.quota.release(quotaKey);
  }

  private release(session: Session, quotaKey: string): void {
    this.openCounts.delete(session);
    this.quota.release(quotaKey);
  }
}
