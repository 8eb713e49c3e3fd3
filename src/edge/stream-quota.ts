import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Limits } from '../config/limits.js';
import { GatewayError } from '../core/errors.js';
import { Metrics } from '../metrics/metrics.js';
import { PrincipalQuota } from '../state/principal-quota.js';
import { Quotas } from '../state/quotas.js';
import type { Session } from './session.js';

/**
 * Limits how many event streams one principal has open: sessions with a stream opened with GET, and listen streams. All
 * streams of a session count as one, because a client may reconnect before its earlier connection is closed. Streams that
 * answer a call do not count: the limits on calls apply to them.
 */
@Injectable()
export class StreamQuota {
  private readonly quota: PrincipalQuota;
  /** By session: the number of its open responses. */
  private readonly open = new Map<Session, number>();

  constructor(limits: Limits, quotas: Quotas, metrics: Metrics) {
    const limit = { name: 'streams', limit: limits.streamsPerPrincipal, noun: 'event streams' };
    this.quota = new PrincipalQuota(quotas, limit, () => metrics.countRefusal('streamsPerPrincipal'));
  }

  /** Counts the session until the last of its responses is closed. Throws when the principal has reached the limit. */
  claim(session: Session, response: ServerResponse): void {
    const { quotaKey } = session;
    const isFirst = !this.open.has(session);
    if (isFirst && !this.quota.claim(quotaKey)) {
      const { message, data } = this.quota.refuse();
      throw new GatewayError('too-many-connections', message, data);
    }
    this.open.set(session, (this.open.get(session) ?? 0) + 1);
    response.once('close', () => {
      const left = this.open.get(session)! - 1;
      if (left > 0) this.open.set(session, left);
      else this.release(session, quotaKey);
    });
  }

  /** Counts a listen stream until `releaseListen`. Throws when the principal has reached the limit. */
  claimListen(quotaKey: string): void {
    if (!this.quota.claim(quotaKey)) throw this.quota.refuse();
  }

  releaseListen(quotaKey: string): void {
    this.quota.release(quotaKey);
  }

  private release(session: Session, quotaKey: string): void {
    this.open.delete(session);
    this.quota.release(quotaKey);
  }
}
