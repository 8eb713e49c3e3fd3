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
import { notInFlight, type ModernRequest } from './modern-request.js';

/**
 * Minimum time between two comments on the response to a running request. `Sessions` causes a round of comments every 5
 * seconds, so two comments are at most 15 seconds apart.
 */
const QUIET_MS = 10_000;

interface RunningEntry {
  /** Assigned by the gateway, because ids that clients assign are not unique. */
  readonly id: number;
  readonly request: ModernRequest;
}

/**
 * Keeps the running requests of revision 2026-07-28. It limits their number for each principal, writes keep-alive comments
 * to their responses, and cancels them at the end of the process.
 */
@Injectable()
export class ModernRequests implements OnModuleInit {
  /** An `IdTable`, because a Set would keep ended requests in memory until a full garbage collection. */
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

  /** Counts the request as running. Returns the function to call when it has ended. Throws if the limit is reached. */
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

  /**
   * Counts the request as in flight until its `leaveInFlight` is called. Throws if the limit of the principal is
   * reached.
   */
  enterInFlight(request: Pick<ModernRequest, 'quotaKey' | 'leaveInFlight'>): void {
    const { quotaKey } = request;
    if (!this.quota.claim(quotaKey)) throw this.quota.refuse();
    const count = this.runner.inFlight.begin();
    // `leave` is a variable for a reason: V8 would create a function expression in the assignment below in its old
    // space. The function and everything that it references would then stay in memory until a full garbage collection.
    const leave = (): void => {
      request.leaveInFlight = notInFlight;
      this.quota.release(quotaKey);
      count.finish();
    };
    request.leaveInFlight = leave;
  }

  /** For the end of the process: cancels all running requests. */
  abortAll(): void {
    for (const { request } of this.running) request.abort();
  }
}
