import { GatewayError } from '../core/errors.js';
import type { CancelSignal } from '../lib/cancellation/cancellation.js';
import { Deadlines } from '../lib/deadlines/deadlines.js';
import { Waiters } from '../lib/listeners/waiters.js';
import { FairQueue } from '../lib/queues/fair-queue.js';

export interface CallLimits {
  /** Maximum calls in flight. */
  readonly concurrency: number;
  /** Maximum queued calls. With 0, a call is rejected when no slot is free. */
  readonly queue: number;
}

/** `signal` and `deadline` have no effect on a call that has started. */
export interface QueueOptions {
  readonly signal?: CancelSignal | undefined;
  /** A time of `performance.now()`. */
  readonly deadline?: number | undefined;
  /** The call starts when no other call is in flight, and no other call starts until it has settled. */
  readonly exclusive?: boolean | undefined;
}

interface QueuedCall {
  readonly exclusive: boolean;
  readonly deadline: number;
  /** Makes the call. To be called after the call was removed from the queue. */
  start(): void;
  /** Removes the call from the queue and rejects it. */
  fail(error: Error): void;
}

/** A queued call fails up to this long after its deadline, so that deadlines close to each other share one timer. */
const DEADLINE_STEP_MS = 10;

/**
 * Limits the concurrent calls to one server. Further calls wait in a queue that is fair between clients. Backpressure:
 * when the queue is full, the gate rejects calls with `overloaded`.
 */
export class CallGate {
  private readonly queue = new FairQueue<QueuedCall>();
  private running = 0;
  private isExclusiveRunning = false;
  private readonly deadlines = new Deadlines<QueuedCall>(
    () => this.queue,
    (call) => this.expire(call),
    DEADLINE_STEP_MS,
  );
  private readonly idleWaiters = new Waiters();

  constructor(
    private readonly server: string,
    private limits: CallLimits,
  ) {}

  get inFlight(): number {
    return this.running;
  }

  get waiting(): number {
    return this.queue.size;
  }

  /** Makes the call, at once if a slot is free, otherwise from the queue. The call holds its slot until it settles. */
  run<T>(client: string, call: () => Promise<T>, options: QueueOptions = {}): Promise<T> {
    if (options.signal?.aborted) return Promise.reject(this.cancelled(options.signal));
    const exclusive = options.exclusive ?? false;
    if (this.queue.size === 0 && this.hasSlot(exclusive)) return this.begin(call, exclusive);
    if (this.queue.size >= this.limits.queue) return Promise.reject(this.overloaded());
    return this.enqueue(client, call, options);
  }

  /** Rejects all queued calls of a server that is lost, disabled or stopped. Calls in flight continue. */
  rejectQueued(error: Error): void {
    for (const call of this.queue) call.fail(error);
    this.advance();
  }

  /** Resolves when no call is running or queued. */
  whenIdle(): Promise<void> {
    return this.isIdle() ? Promise.resolve() : this.idleWaiters.wait();
  }

  /** Running and queued calls are kept, even above the new limits. */
  setLimits(limits: CallLimits): void {
    this.limits = limits;
    this.advance();
  }

  private hasSlot(exclusive: boolean): boolean {
    if (exclusive) return this.running === 0;
    return this.running < this.limits.concurrency && !this.isExclusiveRunning;
  }

  private begin<T>(call: () => Promise<T>, exclusive: boolean): Promise<T> {
    this.running++;
    this.isExclusiveRunning = exclusive;
    const result = callSafely(call);
    result.then(this.freeSlot, this.freeSlot);
    return result;
  }

  private readonly freeSlot = (): void => {
    this.running--;
    this.isExclusiveRunning = false;
    if (this.queue.size > 0) this.advance();
    else if (this.running === 0) this.idleWaiters.release();
  };

  private enqueue<T>(client: string, call: () => Promise<T>, options: QueueOptions): Promise<T> {
    const { signal, deadline = Infinity, exclusive = false } = options;
    return new Promise<T>((resolve, reject) => {
      const start = (): void => {
        signal?.removeEventListener('abort', cancel);
        // One signal may cancel several queued calls: advancing the queue for the first may reach the next one here.
        if (signal?.aborted) reject(this.cancelled(signal));
        else if (deadline <= performance.now()) reject(this.timedOut());
        else resolve(this.begin(call, exclusive));
      };
      const fail = (error: Error): void => {
        signal?.removeEventListener('abort', cancel);
        this.queue.remove(entry);
        reject(error);
      };
      const cancel = (): void => {
        fail(this.cancelled(signal));
        this.advance();
      };
      const entry = this.queue.push(client, { exclusive, deadline, start, fail });
      signal?.addEventListener('abort', cancel);
      this.deadlines.watch(deadline);
    });
  }

  /** Starts queued calls while slots are free. To be called after every change that may free a slot or empty the queue. */
  private advance(): void {
    let next = this.queue.peek();
    while (next && this.hasSlot(next.exclusive)) {
      this.queue.shift();
      next.start();
      next = this.queue.peek();
    }
    if (!next) this.deadlines.stop();
    if (this.isIdle()) this.idleWaiters.release();
  }

  private isIdle(): boolean {
    return this.running === 0 && this.queue.size === 0;
  }

  private expire(call: QueuedCall): void {
    call.fail(this.timedOut());
    this.advance();
  }

  private overloaded(): GatewayError {
    const limit = this.limits.queue;
    return new GatewayError(
      'overloaded',
      `Overloaded: server ${this.server} already has ${limit} calls waiting`,
      { code: 'Overloaded', server: this.server, limit },
    );
  }

  private cancelled(signal: CancelSignal | undefined): GatewayError {
    return new GatewayError(
      'cancelled',
      `CANCELLED: the call was cancelled before it was sent to server ${this.server}`,
      { code: 'CANCELLED', server: this.server },
      { cause: signal?.reason },
    );
  }

  private timedOut(): GatewayError {
    return new GatewayError(
      'timeout',
      `TIMEOUT: the call waited in the queue of server ${this.server} until its timeout`,
      { code: 'TIMEOUT', server: this.server },
    );
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
