import type { CancelSignal } from '../lib/cancellation/cancellation.js';
import { GatewayError } from '../core/errors.js';
import { FairQueue } from '../lib/queues/fair-queue.js';

export interface CallLimits {
  /** Calls in flight at once. */
  readonly concurrency: number;
  /** Calls that may wait behind them; 0 means that none may. */
  readonly queue: number;
}

/** What ends the wait of a call. Once it has started, it is its caller's to end. */
export interface QueueOptions {
  readonly signal?: CancelSignal | undefined;
  /** On the gate's clock, in milliseconds. */
  readonly deadline?: number | undefined;
  /** Starts when nothing else is in flight, and nothing else starts until it has settled. */
  readonly exclusive?: boolean | undefined;
}

interface WaitingCall {
  readonly exclusive: boolean;
  readonly deadline: number;
  /** Call it after taking the call from the queue. */
  start(): void;
  /** Leaves the queue. */
  fail(error: Error): void;
}

/** The alarm rings no sooner than this after it was set, so that many close deadlines share one look at the queue. */
const MIN_TIMER_MS = 10;
/** What setTimeout can count; it takes anything longer for 1 ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Lets only so many calls at a time through to one server. The others wait, and clients take turns. */
export class CallGate {
  private readonly queue = new FairQueue<WaitingCall>();
  private running = 0;
  private exclusiveRuns = false;
  private advancing = false;
  private alarm: NodeJS.Timeout | undefined;
  private alarmAt = Infinity;
  private idleListeners: (() => void)[] = [];

  constructor(
    private readonly server: string,
    private limits: CallLimits,
    private readonly now: () => number = () => performance.now(),
  ) {}

  get inFlight(): number {
    return this.running;
  }

  get waiting(): number {
    return this.queue.size;
  }

  /** Runs `call` when there is room; at once when there is room now. The slot is held until `call` settles. */
  run<T>(client: string, call: () => Promise<T>, options: QueueOptions = {}): Promise<T> {
    if (options.signal?.aborted) return Promise.reject(this.cancelled(options.signal));
    const exclusive = options.exclusive ?? false;
    if (this.queue.size === 0 && this.hasRoom(exclusive)) return this.begin(call, exclusive);
    if (this.queue.size >= this.limits.queue) return Promise.reject(this.overloaded());
    return this.wait(client, call, options);
  }

  /** Fails everything that waits: the server is lost, disabled or shutting down. What runs is left alone. */
  rejectQueued(error: Error): void {
    for (const call of this.queue) call.fail(error);
    this.advance();
  }

  /** Resolves once nothing runs and nothing waits. */
  idle(): Promise<void> {
    if (this.isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.idleListeners.push(resolve));
  }

  /** Whatever runs or waits already stays, even above the new limits. */
  setLimits(limits: CallLimits): void {
    this.limits = limits;
    this.advance();
  }

  private hasRoom(exclusive: boolean): boolean {
    if (exclusive) return this.running === 0;
    return this.running < this.limits.concurrency && !this.exclusiveRuns;
  }

  private begin<T>(call: () => Promise<T>, exclusive: boolean): Promise<T> {
    this.running++;
    this.exclusiveRuns = exclusive;
    const called = started(call);
    called.then(this.leave, this.leave);
    return called;
  }

  private readonly leave = (): void => {
    this.running--;
    this.exclusiveRuns = false;
    this.advance();
  };

  private wait<T>(client: string, call: () => Promise<T>, options: QueueOptions): Promise<T> {
    const { signal, deadline = Infinity, exclusive = false } = options;
    return new Promise<T>((resolve, reject) => {
      const start = (): void => {
        signal?.removeEventListener('abort', cancel);
        // One abort may hit many waiting calls: the first to leave must not start the next, not yet told.
        if (signal?.aborted) reject(this.cancelled(signal));
        else if (deadline <= this.now()) reject(this.timedOut());
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
      this.setAlarm(deadline);
    });
  }

  /** Called after every change that may make room, or leave nobody waiting. */
  private advance(): void {
    // A call that throws at once comes back here from within the loop, which goes on anyway.
    if (this.advancing) return;
    this.advancing = true;
    let next = this.queue.peek();
    while (next && this.hasRoom(next.exclusive)) {
      this.queue.shift();
      next.start();
      next = this.queue.peek();
    }
    this.advancing = false;
    if (!next) this.stopAlarm();
    if (this.isIdle()) this.announceIdle();
  }

  private isIdle(): boolean {
    return this.running === 0 && this.queue.size === 0;
  }

  private announceIdle(): void {
    const listeners = this.idleListeners;
    if (listeners.length === 0) return;
    this.idleListeners = [];
    for (const tell of listeners) tell();
  }

  /** One timer for all: it only ever moves forward, and looks for the next deadline when it rings. */
  private setAlarm(deadline: number): void {
    const now = this.now();
    const at = Math.max(deadline, now + MIN_TIMER_MS);
    if (at >= this.alarmAt) return;
    this.stopAlarm();
    this.alarmAt = at;
    this.alarm = setTimeout(() => this.expire(), Math.min(Math.ceil(at - now), MAX_TIMER_MS)).unref();
  }

  private stopAlarm(): void {
    clearTimeout(this.alarm);
    this.alarm = undefined;
    this.alarmAt = Infinity;
  }

  private expire(): void {
    this.stopAlarm();
    const now = this.now();
    let next = Infinity;
    for (const call of this.queue) {
      if (call.deadline <= now) call.fail(this.timedOut());
      else next = Math.min(next, call.deadline);
    }
    this.setAlarm(next);
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

/** What is thrown at once is thrown late, so that a slot that was taken is always given back. */
function started<T>(call: () => Promise<T>): Promise<T> {
  try {
    return call();
  } catch (error) {
    return Promise.reject(error);
  }
}
