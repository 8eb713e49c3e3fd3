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
/**
 * At a server that runs one call at a time, a call that has been parked for this time is cancelled if other calls wait.
 */
const BLOCKING_MS = 30_000;
/** After `BLOCKING_MS`: the interval at which the gateway checks whether other calls wait for the server. */
const BLOCKING_CHECK_MS = 1000;

/** A call that is parked. */
interface Parked {
  readonly parkable: ParkableCall;
  readonly server: string;
  readonly quotaKey: string;
  /** The time at which the call is cancelled if its client has not answered, on the clock of `performance.now()`. */
  readonly expiresAt: number;
  /**
   * When `check` runs next: at `expiresAt`, or earlier if no other call can run at the server while this one is parked.
   */
  deadline: number;
}

/**
 * Keeps the calls of clients of the 2026 era in which servers ask questions (`ParkableCall`). It limits the number of parked
 * calls, finds the call for a repeated request, and cancels calls whose clients do not answer in time.
 */
@Injectable()
export class ParkedCalls implements OnModuleInit, Parking {
  private readonly logger = new Logger('ParkedCalls');
  /** By id: all calls that have had a question, whether they are parked or not, until they end. */
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

  /** Call this at the first question of a call, and `end` when the call has ended. */
  begin(call: QuestionedCall): ParkableCall {
    const parkable = new ParkableCall(randomBytes(ID_BYTES).toString('base64url'), call, this);
    this.calls.set(parkable.id, parkable);
    return parkable;
  }

  end({ id }: ParkableCall): void {
    this.calls.delete(id);
  }

  /**
   * Finds the parked call that `request` repeats, with answers to its questions. `state` is the `requestState` of the request.
   * Returns undefined if this process has not issued the state. Throws if the state has expired, was used, or belongs to
   * another request.
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

  /** Cancels the parked calls of principals whose credentials are no longer valid. */
  cancelRevoked(isCurrent: (principal: Principal) => boolean): void {
    const error = new GatewayError(
      'cancelled',
      'CANCELLED: the credentials of the client are no longer valid',
    );
    const isRevoked = ({ parkable }: Parked): boolean => !isCurrent(parkable.call.principal);
    this.cancelWhere(isRevoked, error, 'the credentials of their clients are no longer valid');
  }

  /** For the end of the process: cancels all parked calls. */
  cancelAll(): void {
    const error = new GatewayError('cancelled', 'CANCELLED: the gateway is stopping');
    this.cancelWhere(() => true, error, 'the gateway is stopping');
    this.deadlines.stop();
  }

  /** Counts a parked call for its server and its principal. Throws if a limit is reached. */
  private claim(server: string, quotaKey: string, limit: number): void {
    const isServerFull = this.countOf(server) >= limit;
    if (isServerFull) this.metrics.countRefusal('parkedPerServer');
    if ((isServerFull && !this.makeRoom(server, quotaKey)) || !this.perPrincipal.claim(quotaKey)) {
      this.metrics.countClientQuestion(server, 'refused');
      throw isServerFull ? serverFull(server, limit) : this.perPrincipal.refuse();
    }
    this.perServer.set(server, this.countOf(server) + 1);
  }

  private countOf(server: string): number {
    return this.perServer.get(server) ?? 0;
  }

  /**
   * Makes room for a call of the principal `quotaKey`: finds the principal that has the most parked calls at the server, and
   * cancels its oldest one. Does so only if that principal has at least two more calls than `quotaKey` has now. Returns
   * whether a call was cancelled.
   */
  private makeRoom(server: string, quotaKey: string): boolean {
    const atServer = [...this.parked.values()].filter((parked) => parked.server === server);
    const counts = new Map([[quotaKey, 0]]);
    for (const parked of atServer) counts.set(parked.quotaKey, (counts.get(parked.quotaKey) ?? 0) + 1);
    const most = Math.max(...counts.values());
    if (most <= counts.get(quotaKey)! + 1) return false;
    const oldest = atServer.find((parked) => counts.get(parked.quotaKey) === most)!;
    this.cancelAllOf([oldest], displaced(server), 'another principal needed the place');
    return true;
  }

  /**
   * Cancels the call if it has expired, or if the server has not finished it and other calls wait for the server. Otherwise
   * plans the next check. Before `expiresAt`, this runs only for a call whose server runs one call at a time.
   */
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
    this.cancelAllOf([...this.parked.values()].filter(isMeant), error, reason);
  }

  private cancelAllOf(meant: readonly Parked[], error: GatewayError, reason: string): void {
    for (const parked of meant) this.cancel(parked, error, 'cancelled');
    if (meant.length > 0)
      this.logger.log({ message: 'parked calls were cancelled', calls: meant.length, reason });
  }
}

/**
 * The maximum number of parked calls of a server: half of the calls that may be in flight, so that calls whose clients
 * never answer leave room for other calls. It is 1 for a server that runs one call at a time, so that its questions can
 * be asked.
 */
const parkedLimitOf = ({ isolation, concurrency }: ServerConfig): number =>
  isolation === 'exclusive' ? 1 : Math.max(1, Math.floor(concurrency / 2));

const serverFull = (server: string, limit: number): GatewayError =>
  limitExceeded(`${limit} calls of server ${server} wait for answers of their clients`, limit);

const displaced = (server: string): GatewayError =>
  new GatewayError('cancelled', `CANCELLED: other clients wait for answers to questions of server ${server}`);

const notAnswered = (server: string): GatewayError =>
  new GatewayError('timeout', `TIMEOUT: the client did not answer the question of server ${server} in time`, {
    code: 'TIMEOUT',
    server,
  });
