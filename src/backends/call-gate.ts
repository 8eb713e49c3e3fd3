import type { GatewayError } from '../core/errors.js';
import type { CancelSignal } from '../lib/cancellation/cancellation.js';
import { Waiters } from '../lib/listeners/waiters.js';
import { unlimitedQuotas, type BackendQuotas } from './backend-quotas.js';
import { QueueTimeEstimate } from './queue-time-estimate.js';
import { GateErrors } from './gate-errors.js';
import { RequestQueue, type CallerKeys, type QueuedRequest } from './request-queue.js';
import { SlotShares } from './slot-shares.js';

export interface CallLimits {
  /** Maximum requests in flight. */
  readonly concurrency: number;
  /** Maximum queued calls. With 0, a call is rejected when no slot is free. */
  readonly queue: number;
}

/** `signal` and `deadline` have no effect on a call that has started. */
export interface QueueOptions {
  /** When it is aborted, the call is removed from the queue. */
  readonly signal?: CancelSignal | undefined;
  /** The time of `performance.now()` at which the call is removed from the queue. */
  readonly deadline?: number | undefined;
  /** Whether the call needs all slots: it starts when no other request is in flight, and no other starts until it has settled. */
  readonly exclusive?: boolean | undefined;
}

/** The part of the slots that requests of the gateway itself may take. */
const BACKGROUND_SHARE = 0.5;
/** How often a gate with queued calls and nothing in flight checks whether they may start. */
const RECHECK_MS = 100;

/**
 * Limits the concurrent requests to one server: each holds a slot. Calls of clients that find no free slot wait in a queue that
 * is fair between principals, and between the sessions of one principal. Backpressure: when the queue is full, the newest call
 * of the principal with the most queued calls is rejected with `overloaded`. Requests of the gateway itself have a queue of
 * their own, take turns with calls, and use at most half of the slots. `SlotShares` decides which principal may take a slot.
 */
export class CallGate {
  private readonly queue = new RequestQueue((request) => this.expire(request));
  /** Requests in flight. */
  private running = 0;
  /** Requests of the gateway itself in flight. They count in `running` too. */
  private backgroundRunning = 0;
  private isExclusiveRunning = false;
  private readonly shares: SlotShares;
  private readonly queueTime = new QueueTimeEstimate();
  private readonly errors: GateErrors;
  private readonly idleWaiters = new Waiters();
  private recheckTimer: NodeJS.Timeout | undefined;

  constructor(
    server: string,
    private limits: CallLimits,
    private readonly quotas: BackendQuotas = unlimitedQuotas(),
  ) {
    this.errors = new GateErrors(server);
    this.shares = new SlotShares(quotas.keepsNewcomerReserve);
  }

  /** Number of requests in flight, of clients and of the gateway itself. */
  get inFlight(): number {
    return this.running;
  }

  get waiting(): number {
    return this.queue.size;
  }

  /** Whether only one call can be in flight now. */
  get runsOneCall(): boolean {
    return this.isExclusiveRunning || this.limits.concurrency === 1;
  }

  /**
   * Makes the call and settles as it does. Without a free slot, the call waits in the queue; the promise rejects if the call
   * cannot be queued, or is removed from the queue.
   */
  run<T>(caller: CallerKeys, call: () => Promise<T>, options: QueueOptions = {}): Promise<T> {
    const { quotaKey } = caller;
    const { signal, exclusive = false } = options;
    if (signal?.aborted) return Promise.reject(this.errors.cancelled(signal));
    this.shares.arrived(quotaKey);
    if (this.hasSlot(exclusive) && this.hasPrecedence(quotaKey, exclusive))
      return this.begin(quotaKey, call, exclusive);
    const refusal = this.makeRoom(quotaKey);
    return refusal ? Promise.reject(refusal) : this.enqueue(caller, call, options);
  }

  /**
   * Makes a request of the gateway itself. Requests of one kind start in order. The queue of these requests has no limit: the
   * callers of this method limit the number of requests.
   */
  runBackground<T>(kind: string, request: () => Promise<T>, deadline: number): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const start = (): void => {
        if (deadline <= performance.now()) reject(this.errors.timedOut());
        else resolve(this.beginBackground(request));
      };
      const fail = (error: Error): void => {
        remove();
        reject(error);
      };
      const remove = this.queue.addBackground(kind, { exclusive: false, deadline, start, fail });
      this.advance();
    });
  }

  /** Rejects all queued requests of a server that is lost, disabled or stopped. Requests in flight continue. */
  rejectQueued(error: Error): void {
    for (const request of this.queue) request.fail(error);
    this.advance();
  }

  /** Resolves when no call of a client is running or queued. */
  whenIdle(): Promise<void> {
    return this.isIdle() ? Promise.resolve() : this.idleWaiters.wait();
  }

  /** Running and queued requests continue, even above the new limits. */
  setLimits(limits: CallLimits): void {
    this.limits = limits;
    this.advance();
  }

  /** Whether a slot is free. An exclusive call needs all slots. */
  private hasSlot(exclusive: boolean): boolean {
    if (exclusive) return this.running === 0;
    return this.running < this.limits.concurrency && !this.isExclusiveRunning;
  }

  /** Whether a call that arrives now may start before those in the queue. */
  private hasPrecedence(principal: string, exclusive: boolean): boolean {
    if (!this.hasShare(principal) || !this.mayRun(principal, exclusive)) return false;
    return this.queue.callCountOf(principal) === 0 && !this.queue.hasReadyCall(this.mayStart);
  }

  /**
   * Whether there is a slot for the request. Records since when an exclusive request without a slot holds back all others.
   */
  private readonly admits = (request: QueuedRequest): boolean => {
    const isAdmitted = this.hasSlot(request.exclusive);
    if (!isAdmitted && request.exclusive) request.holdsBackSince ??= performance.now();
    return isAdmitted;
  };

  private get freeSlots(): number {
    return this.limits.concurrency - this.running;
  }

  /** Whether a request of the gateway itself could start now. */
  private get admitsBackground(): boolean {
    const { backgroundRunning, freeSlots } = this;
    const { concurrency } = this.limits;
    return (
      backgroundRunning < Math.ceil(concurrency * BACKGROUND_SHARE) &&
      this.shares.leavesNewcomerReserve(backgroundRunning, concurrency, freeSlots)
    );
  }

  /** Whether the principal may take one more slot. */
  private readonly hasShare = (principal: string): boolean =>
    this.shares.allows(principal, this.limits.concurrency, this.freeSlots);

  /** Whether the shares of the principals allow this call to start. Does not check whether there is a slot for it. */
  private readonly mayStart = (principal: string, { exclusive }: QueuedRequest): boolean =>
    this.hasShare(principal) && this.mayRun(principal, exclusive);

  /** For a call that has to run alone, whether `SlotShares` allows that now. True for any other call. */
  private mayRun(principal: string, exclusive: boolean): boolean {
    return !this.runsAlone(exclusive) || this.shares.mayRunAlone(principal, this.queue.principals);
  }

  private runsAlone(exclusive: boolean): boolean {
    return exclusive || this.limits.concurrency === 1;
  }

  /**
   * Makes the call, which holds a slot until it settles. Rejects when its principal has too many calls in flight.
   * `holdsBackSince` is the time at which the call began to hold back other requests.
   */
  private begin<T>(
    principal: string,
    call: () => Promise<T>,
    exclusive: boolean,
    holdsBackSince = performance.now(),
  ): Promise<T> {
    if (!this.quotas.calls.claim(principal)) return Promise.reject(this.quotas.calls.refuse());
    this.shares.started(principal);
    this.running++;
    this.isExclusiveRunning = exclusive;
    const result = callSafely(call);
    const end = (): void => {
      this.quotas.calls.release(principal);
      this.shares.ended(principal, this.runsAlone(exclusive) ? performance.now() - holdsBackSince : 0);
      this.isExclusiveRunning = false;
      this.queueTime.callEnded();
      this.releaseSlot();
    };
    result.then(end, end);
    return result;
  }

  private beginBackground<T>(request: () => Promise<T>): Promise<T> {
    this.running++;
    this.backgroundRunning++;
    const result = callSafely(request);
    const end = (): void => {
      this.backgroundRunning--;
      this.releaseSlot();
    };
    result.then(end, end);
    return result;
  }

  private releaseSlot(): void {
    this.running--;
    if (this.queue.size > 0) this.advance();
    else if (this.isIdle()) this.idleWaiters.release();
  }

  /**
   * Makes room in the queue for an arriving call, if necessary by rejecting a queued call. Returns the error if the arriving call
   * is the one to reject.
   */
  private makeRoom(principal: string): GatewayError | undefined {
    const { calls, queuedPerPrincipal } = this.quotas;
    if (calls.isReached(principal)) return calls.refuse();
    const queued = this.queue.callCountOf(principal);
    if (queued >= queuedPerPrincipal) {
      this.quotas.refused('queuedPerPrincipal');
      return this.errors.queuedPerPrincipal(queuedPerPrincipal, this.queueTime.retryAfterMs(queued));
    }
    const { callCount } = this.queue;
    if (callCount < this.limits.queue) return undefined;
    this.quotas.refused('queue');
    const overloaded = this.errors.overloaded(this.limits.queue, this.queueTime.retryAfterMs(callCount));
    const newest = this.queue.newestOfLargest();
    // With the arriving call, the principal of that call would have as many queued calls as any other, or more.
    if (!newest || newest.groupSize <= queued + 1) return overloaded;
    newest.item.fail(overloaded);
    return undefined;
  }

  private enqueue<T>(caller: CallerKeys, call: () => Promise<T>, options: QueueOptions): Promise<T> {
    const { signal, deadline = Infinity, exclusive = false } = options;
    if (this.queue.callCount === 0) this.queueTime.start();
    return new Promise<T>((resolve, reject) => {
      const start = (): void => {
        signal?.removeEventListener('abort', cancel);
        // One signal may cancel several queued calls. The cancellation of the first one advances the queue, which may start
        // the next one before its own `cancel` was called.
        if (signal?.aborted) reject(this.errors.cancelled(signal));
        else if (deadline <= performance.now()) reject(this.errors.timedOut());
        else resolve(this.begin(caller.quotaKey, call, exclusive, request.holdsBackSince));
      };
      const fail = (error: Error): void => {
        signal?.removeEventListener('abort', cancel);
        remove();
        reject(error);
      };
      const cancel = (): void => {
        fail(this.errors.cancelled(signal));
        this.advance();
      };
      const request: QueuedRequest = { exclusive, deadline, start, fail };
      const remove = this.queue.addCall(caller, request);
      signal?.addEventListener('abort', cancel);
      // If the call has to wait for calls in flight, it may hold back other requests from now on. If it waits although nothing
      // is in flight, because `SlotShares` gives time to other principals, `advance` sets the timer after which it may start.
      if (this.runsAlone(exclusive)) this.advance();
    });
  }

  /**
   * Starts queued requests while slots are free. To be called after every change that may free a slot, and after one that may
   * empty the queue, for which others wait.
   */
  private advance(): void {
    while (this.running < this.limits.concurrency) {
      const next = this.queue.take(this.admits, this.mayStart, this.admitsBackground);
      if (!next) break;
      next.start();
    }
    this.queue.stopTimerIfEmpty();
    if (this.isIdle()) this.idleWaiters.release();
    else if (this.running === 0) this.advanceLater();
  }

  /**
   * Checks the queue again after `RECHECK_MS`. Necessary when calls are queued and nothing is in flight: `SlotShares` makes
   * these calls wait until some time has passed, and no other call is in flight whose end would start them.
   */
  private advanceLater(): void {
    this.recheckTimer ??= setTimeout(() => {
      this.recheckTimer = undefined;
      this.advance();
    }, RECHECK_MS).unref();
  }

  private isIdle(): boolean {
    return this.running === this.backgroundRunning && this.queue.callCount === 0;
  }

  /** Rejects a queued request whose deadline has passed. */
  private expire(request: QueuedRequest): void {
    request.fail(this.errors.timedOut());
    this.advance();
  }
}

/** Turns a synchronous throw into a rejection, so that the slot is always freed. */
function callSafely<T>(call: () => Promise<T>): Promise<T> {
  try {
    return call();
  } catch (error) {
    return Promise.reject(error);
  }
}
