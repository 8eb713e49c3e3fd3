import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Limits } from '../../config/limits.js';
import { IdTable } from '../../lib/id-table/id-table.js';
import { Metrics } from '../../metrics/metrics.js';
import { PrincipalQuota } from '../../state/principal-quota.js';
import { Quotas } from '../../state/quotas.js';
import { LogMessages } from '../log-messages.js';
import { RequestRunner } from '../request-runner.js';
import type { RunningRequest } from '../running-requests.js';
import { Sessions } from '../sessions.service.js';
import { CommentRounds } from './comment-rounds.js';
import type { ModernRequest } from './modern-request.js';

/** A response that was quiet for this long gets a comment at the next interval of `Sessions`, so at least every 15 seconds. */
const QUIET_MS = 10_000;

/** `leaveInFlight` of a request that does not count as in flight. */
const hasLeft = (): void => {};

interface RunningEntry {
  /** Not the id that the client assigned: several clients may use the same one. */
  readonly id: number;
  readonly request: ModernRequest;
}

/** The running requests of revision 2026-07-28: limit per principal, comments on quiet responses, and the drain. */
@Injectable()
export class ModernRequests implements OnModuleInit {
  /** No Set: one would keep requests that have ended until a full garbage collection (IdTable). */
  private readonly running = new IdTable<RunningEntry>();
  private readonly quota: PrincipalQuota;
  private readonly comments = new CommentRounds<RunningEntry>(this.running, ({ request }) =>
    request.keepAlive(QUIET_MS),
  );

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
    this.sessions.onInterval(() => void this.comments.run());
  }

  get size(): number {
    return this.running.size;
  }

  /** Counts the request as running. Returns the function that ends this. Throws when its principal has reached the limit. */
  begin(request: ModernRequest): () => void {
    this.enterInFlight(request);
    const id = this.running.nextId();
    this.running.add({ id, request });
    const endLevel = request.logLevel && this.logMessages.beginRequest(request.logLevel);
    return () => {
      this.running.delete(id);
      endLevel?.();
      request.leaveInFlight();
    };
  }

  get all(): Iterable<RunningRequest> {
    return Array.from(this.running, ({ request }) => request);
  }

  /** Counts the request as in flight until its `leaveInFlight` is called. Throws when its principal has reached the limit. */
  enterInFlight(request: Pick<ModernRequest, 'quotaKey' | 'leaveInFlight'>): void {
    const { quotaKey } = request;
    if (!this.quota.claim(quotaKey)) throw this.quota.refuse();
    const count = this.runner.inFlight.begin();
    // A function expression on the right of this assignment would be created in V8's old space: with all that it references,
    // it would stay in memory until a full garbage collection.
    const leave = (): void => {
      request.leaveInFlight = hasLeft;
      this.quota.release(quotaKey);
      count.finish();
    };
    request.leaveInFlight = leave;
  }

  /** For the end of the process. */
  abortAll(): void {
    for (const { request } of this.running) request.abort();
  }
}
