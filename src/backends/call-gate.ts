import { GatewayError } from '../core/errors.js';
import type { CancelSignal } from '../lib/cancellation/cancellation.js';
import { Deadlines } from '../lib/deadlines/deadlines.js';
import { Waiters } from '../lib/listeners/waiters.js';
import { FairQueue } from '../lib/queues/fair-queue.js';

export interface CallLimits {
  /** Calls in flight at once. */
  readonly concurrency: number;
  /** Calls that may wait; 0 means none. */
  readonly queue: number;
}

/** Signal and deadline only apply while the call is queued. */
export interface QueueOptions {
  readonly signal?: CancelSignal | undefined;
  /** On the clock of `performance.now()`. */
  readonly deadline?: number | undefined;
  /** The call runs alone: it starts when no other call is in flight, and no other starts until it has settled. */
  readonly exclusive?: boolean | undefined;
}

interface QueuedCall {
  readonly exclusive: boolean;
  readonly deadline: number;
  /** To be called after the call was taken from the queue. */
  start(): void;
  /** Removes the call from the queue and rejects it. */
  fail(error: Error): void;
}

/** Queued calls whose deadlines are closer together than this may fail together. */
const DEADLINE_STEP_MS = 10;

/**
 * Limits the concurrent calls to one server. Further calls wait in a queue that is fair between clients. Backpressure: a
 * call that finds the queue full is rejected as overloaded.
 */
export class CallGate {
  private readonly queue = new FairQueue<QueuedCall>();
  private running = 0;
  private isExclusiveRunning = false;
  private isAdvancing = false;
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

  /** Runs `call` as soon as a slot is free, at once where one is. The slot is held until `call` settles. */
  run<T>(client: string, call: () => Promise<T>, options: QueueOptions = {}): Promise<T> {
    if (options.signal?.aborted) return Promise.reject(this.cancelled(options.signal));
    const exclusive = options.exclusive ?? false;
    if (this.queue.size === 0 && this.hasSlot(exclusive)) return this.begin(call, exclusive);
    if (this.queue.size >= this.limits.queue) return Promise.reject(this.overloaded());
    return this.wait(client, call, options);
  }

  /** Rejects all queued calls, when the server is lost, disabled or stopped. Running calls are not touched. */
  rejectQueued(error: Error): void {
    for (const call of this.queue) call.fail(error);
    this.advance();
  }

  /** Resolves when no call is running or queued. */
  idle(): Promise<void> {
    return this.isIdle() ? Promise.resolve() : this.idleWaiters.wait();
  }

  /** Running and queued calls stay, even above the new limits. */
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
    const called = started(call);
    called.then(this.leave, this.leave);
    return called;
  }

  private readonly leave = (): void => {
    this.running--;
    this.isExclusiveRunning = false;
    if (this.queue.size > 0) this.advance();
    else if (this.running === 0) this.idleWaiters.release();
  };

  private wait<T>(client: string, call: () => Promise<T>, options: QueueOptions): Promise<T> {
    const { signal, deadline = Infinity, exclusive = false } = options;
    return new Promise<T>((resolve, reject) => {
      const start = (): void => {
        signal?.removeEventListener('abort', cancel);
        // One signal may cancel many queued calls: the first to leave must not start the next, which is cancelled as well.
        if (signal?.aborted) reject(this.cancelled(signal));
        else if (deadline <= performance.now()) reject(this.timedOut());
        else resolve(this.begin(call, exclusive));
      };
      const fail = (error: Error): void => {
        signal?.removeEventListener('abort', cancel);
        this.queue.remove(place);
        reject(error);
      };
      const cancel = (): void => {
        fail(this.cancelled(signal));
        this.advance();
      };
      const place = this.queue.push(client, { exclusive, deadline, start, fail });
      signal?.addEventListener('abort', cancel);
      this.deadlines.watch(deadline);
    });
  }

  /** To be called after every change that may free a slot or empty the queue. */
  private advance(): void {
    // A call that throws at once calls this again from within the loop.
    if (this.isAdvancing) return;
    this.isAdvancing = true;
    let next = this.queue.peek();
    while (next && this.hasSlot(next.exclusive)) {
      this.queue.shift();
      next.start();
      next = this.queue.peek();
    }
    this.isAdvancing = false;
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
      `CANCELLED: the call was cancelled before server ${this.server} got it`,
      { code: 'CANCELLED', server: this.server },
      { cause: signal?.reason },
    );
  }

  private timedOut(): GatewayError {
    return new GatewayError('timeout', `TIMEOUT: server ${this.server} had no room for the call in time`, {
      code: 'TIMEOUT',
      server: this.server,
    });
  }
}

/** Turns a synchronous throw into a rejection, so that the slot is always freed. */
function started<T>(call: () => Promise<T>): Promise<T> {
  try {
    return call();
  } catch (error) {
    return Promise.reject(error);
  }
}
