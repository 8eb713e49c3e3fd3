import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Limits } from '../../config/limits.js';
import { IdTable } from '../../lib/id-table/id-table.js';
import { runSliced, type Steps } from '../../lib/slices/run-sliced.js';
import { sliceScheduler } from '../../lib/slices/slices.js';
import { Metrics } from '../../metrics/metrics.js';
import { PrincipalQuota } from '../../state/principal-quota.js';
import { Quotas } from '../../state/quotas.js';
import { LogMessages } from '../log-messages.js';
import { RequestRunner } from '../request-runner.js';
import type { RequestDescription } from '../running-requests.js';
import { Sessions } from '../sessions.service.js';
import type { ModernRequest } from './modern-request.js';

/** A comment is written at the first interval of `Sessions` after this time, so at least every 15 seconds. */
const QUIET_MS = 10_000;
const REQUESTS_PER_STEP = 64;

interface RunningRequest {
  readonly id: number;
  readonly request: ModernRequest;
}

/** The running requests of revision 2026-07-28: limit per principal, comments on quiet responses, and the drain. */
@Injectable()
export class ModernRequests implements OnModuleInit {
  /** No Set: one would keep requests that have ended until a full garbage collection (IdTable). */
  private readonly running = new IdTable<RunningRequest>();
  private readonly quota: PrincipalQuota;
  private isWritingComments = false;

  constructor(
    limits: Limits,
    quotas: Quotas,
    metrics: Metrics,
    private readonly sessions: Sessions,
    private readonly runner: RequestRunner,
    private readonly logMessages: LogMessages,
  ) {
    const limit = { name: 'requests', limit: limits.requestsPerPrincipal, noun: 'requests in flight' };
    this.quota = new PrincipalQuota(quotas, limit, () => metrics.countRefusal('requestsPerPrincipal'));
  }

  onModuleInit(): void {
    this.sessions.onInterval(() => void this.keepAlive());
  }

  get size(): number {
    return this.running.size;
  }

  /** Counts the request as running. Returns the function that ends this. Throws when its principal has reached the limit. */
  begin(request: ModernRequest): () => void {
    const { quotaKey, logLevel } = request;
    if (!this.quota.claim(quotaKey)) throw this.quota.refuse();
    const count = this.runner.inFlight.begin();
    const id = this.running.nextId();
    this.running.add({ id, request });
    const endLevel = logLevel && this.logMessages.beginRequest(logLevel);
    return () => {
      this.running.delete(id);
      endLevel?.();
      this.quota.release(quotaKey);
      count.finish();
    };
  }

  describe(): RequestDescription[] {
    return Array.from(this.running, ({ request }) => request.describe());
  }

  /** For the end of the process. */
  abortAll(): void {
    for (const { request } of this.running) request.abort();
  }

  private async keepAlive(): Promise<void> {
    if (this.isWritingComments) return;
    this.isWritingComments = true;
    await runSliced(this.commentSteps(), sliceScheduler.start());
    this.isWritingComments = false;
  }

  private *commentSteps(): Steps {
    let step = 0;
    for (const { request } of this.running) {
      if (++step % REQUESTS_PER_STEP === 0) yield;
      request.keepAlive(QUIET_MS);
    }
  }
}
