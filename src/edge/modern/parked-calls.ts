import { randomBytes } from 'node:crypto';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Backends } from '../../backends/backends.service.js';
import { Limits } from '../../config/limits.js';
import type { ServerConfig } from '../../config/servers-config.js';
import { GatewayError, limitExceeded, serverUnavailable } from '../../core/errors.js';
import { Deadlines } from '../../lib/deadlines/deadlines.js';
import type { Principal } from '../../mcp/principal.js';
import type { QuestionOutcome } from '../../metrics/metric-labels.js';
import { Metrics } from '../../metrics/metrics.js';
import { Projects } from '../../projects/projects.service.js';
import { PrincipalQuota } from '../../state/principal-quota.js';
import { Quotas } from '../../state/quotas.js';
import { ParkableCall, type Parking, type QuestionedCall } from './parkable-call.js';
import { requestDigest, type DigestedRequest } from './request-digest.js';
import { expiredState, RequestStates, usedState } from './request-state.js';

const ID_BYTES = 9;
/** How long a call may stay parked at a server that runs one call at a time, while other calls are queued for the server. */
const BLOCKING_MS = 30_000;
/** How often it is checked whether others wait. */
const BLOCKING_CHECK_MS = 1000;

interface Parked {
  readonly parkable: ParkableCall;
  readonly server: string;
  readonly quotaKey: string;
  /** When the call is cancelled, on the clock of `performance.now()`. */
  readonly expiresAt: number;
  /** The next check. Earlier than `expiresAt` if other calls cannot run at the server meanwhile. */
  deadline: number;
}

/** The calls of clients of 2026 whose servers wait for an answer of the client. */
@Injectable()
export class ParkedCalls implements OnModuleInit, Parking {
  private readonly logger = new Logger('ParkedCalls');
  /** Calls with questions, parked or not, until they end. */
  private readonly calls = new Map<string, ParkableCall>();
  private readonly parked = new Map<ParkableCall, Parked>();
  private readonly perServer = new Map<string, number>();
  private readonly perPrincipal: PrincipalQuota;
  private readonly deadlines: Deadlines<Parked>;

  constructor(
    private readonly limits: Limits,
    private readonly states: RequestStates,
    private readonly backends: Backends,
    private readonly projects: Projects,
    private readonly metrics: Metrics,
    quotas: Quotas,
  ) {
    const limit = {
      name: 'parkedCalls',
      limit: limits.parkedCalls,
      noun: 'calls that wait for answers of their clients',
    };
    this.perPrincipal = new PrincipalQuota(quotas, limit, () => metrics.countRefusal('parkedCalls'));
    this.deadlines = new Deadlines(
      () => this.parked.values(),
      (parked) => this.check(parked),
    );
  }

  onModuleInit(): void {
    this.backends.onRetired(({ id }) => {
      const error = serverUnavailable(id, 'it was disabled', { reason: 'disabled' });
      this.cancelWhere(({ server }) => server === id, error, 'their server was disabled');
    });
    this.metrics.expose(
      {
        type: 'gauge',
        name: 'gatehouse_parked_calls',
        help: 'Calls that wait for an answer of their client, without an HTTP exchange.',
        labelNames: ['server_id'],
      },
      () => Array.from(this.perServer, ([server, count]) => [{ server_id: server }, count]),
    );
  }

  /** Number of parked calls. */
  get size(): number {
    return this.parked.size;
  }

  /** To be called with the first question of a call. The caller calls `end` when the call has ended. */
  begin(call: QuestionedCall): ParkableCall {
    const parkable = new ParkableCall(randomBytes(ID_BYTES).toString('base64url'), call, this);
    this.calls.set(parkable.id, parkable);
    return parkable;
  }

  end({ id }: ParkableCall): void {
    this.calls.delete(id);
  }

  /**
   * The parked call whose questions the request answers. Undefined if the state of the request was not issued by this process.
   * Throws if it is not valid.
   */
  find(
    state: unknown,
    request: DigestedRequest & { readonly principal: Principal },
  ): ParkableCall | undefined {
    if (typeof state !== 'string' || !this.states.isOwn(state)) return undefined;
    const { call, round } = this.states.open(state, requestDigest(request));
    const parkable = this.calls.get(call);
    if (!parkable) throw expiredState();
    const parked = this.parked.get(parkable);
    if (!parked || parkable.round !== round) throw usedState();
    // The grants of the principal, or the servers of the project, may have changed.
    if (!this.projects.scope(request.principal, parkable.call.project).allows(parked.server)) {
      this.cancel(parked, expiredState(), 'cancelled');
      throw expiredState();
    }
    return parkable;
  }

  enter(parkable: ParkableCall): string {
    const { call, id, round } = parkable;
    const { server = '', quotaKey } = call;
    const backend = this.backends.find(server);
    if (!backend) throw serverUnavailable(server, 'it was disabled', { reason: 'disabled' });
    this.claim(server, quotaKey, parkedLimitOf(backend.config));
    const { parkedMs } = this.limits;
    const expiresAt = performance.now() + parkedMs;
    const blockingMs = backend.runsOneCall ? Math.min(BLOCKING_MS, parkedMs) : parkedMs;
    const deadline = performance.now() + blockingMs;
    this.parked.set(parkable, { parkable, server, quotaKey, expiresAt, deadline });
    this.deadlines.watch(deadline);
    return this.states.seal({ call: id, round, expiresAt: Date.now() + parkedMs }, call.digest());
  }

  leave(parkable: ParkableCall, outcome: QuestionOutcome): void {
    const parked = this.parked.get(parkable);
    if (!parked) return;
    const { server, quotaKey } = parked;
    this.parked.delete(parkable);
    this.perPrincipal.release(quotaKey);
    const left = this.perServer.get(server)! - 1;
    if (left > 0) this.perServer.set(server, left);
    else this.perServer.delete(server);
    this.metrics.countClientQuestion(server, outcome);
  }

  /** Cancels calls whose principal has no valid credentials any more. */
  cancelRevoked(isCurrent: (principal: Principal) => boolean): void {
    const error = new GatewayError(
      'cancelled',
      'CANCELLED: the credentials of the client are no longer valid',
    );
    const isRevoked = ({ parkable }: Parked): boolean => !isCurrent(parkable.call.principal);
    this.cancelWhere(isRevoked, error, 'the credentials of their clients are no longer valid');
  }

  /** For the end of the process. */
  cancelAll(): void {
    const error = new GatewayError('cancelled', 'CANCELLED: the gateway is stopping');
    this.cancelWhere(() => true, error, 'the gateway is stopping');
    this.deadlines.stop();
  }

  private claim(server: string, quotaKey: string, limit: number): void {
    const count = this.perServer.get(server) ?? 0;
    const isServerFull = count >= limit;
    if (isServerFull) this.metrics.countRefusal('parkedPerServer');
    if (isServerFull || !this.perPrincipal.claim(quotaKey)) {
      this.metrics.countClientQuestion(server, 'refused');
      throw isServerFull ? serverFull(server, limit) : this.perPrincipal.refuse();
    }
    this.perServer.set(server, count + 1);
  }

  /** Before `expiresAt`, this runs only for calls that keep all others at their server waiting: see `enter`. */
  private check(parked: Parked): void {
    const now = performance.now();
    const { parkable, server, expiresAt } = parked;
    const waiting = parkable.isFinished ? 0 : (this.backends.find(server)?.waiting ?? 0);
    if (now < expiresAt && waiting === 0) {
      parked.deadline = Math.min(now + BLOCKING_CHECK_MS, expiresAt);
      return;
    }
    this.cancel(parked, notAnswered(server), 'expired');
  }

  private cancel({ parkable }: Parked, error: GatewayError, outcome: QuestionOutcome): void {
    this.leave(parkable, outcome);
    this.end(parkable);
    parkable.cancel(error);
  }

  private cancelWhere(isMeant: (parked: Parked) => boolean, error: GatewayError, reason: string): void {
    const meant = [...this.parked.values()].filter(isMeant);
    for (const parked of meant) this.cancel(parked, error, 'cancelled');
    if (meant.length > 0)
      this.logger.log({ message: 'parked calls were cancelled', calls: meant.length, reason });
  }
}

/**
 * How many calls of a server may be parked: half of those that may be in flight, so that abandoned questions leave room for
 * other calls. A server with one call at a time may have one: else its questions would never reach a client of 2026.
 */
const parkedLimitOf = ({ isolation, concurrency }: ServerConfig): number =>
  isolation === 'exclusive' ? 1 : Math.max(1, Math.floor(concurrency / 2));

const serverFull = (server: string, limit: number): GatewayError =>
  limitExceeded(`${limit} calls of server ${server} wait for answers of their clients`, limit);

const notAnswered = (server: string): GatewayError =>
  new GatewayError('timeout', `TIMEOUT: the client did not answer the question of server ${server} in time`, {
    code: 'TIMEOUT',
    server,
  });
