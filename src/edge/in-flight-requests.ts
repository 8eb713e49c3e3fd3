import { Waiters } from '../lib/listeners/waiters.js';

/** Counts running requests, and lets callers wait until none is left. */
class RequestCount {
  private runningCount = 0;
  private readonly waiters = new Waiters();

  get size(): number {
    return this.runningCount;
  }

  begin(): void {
    this.runningCount++;
  }

  finish(): void {
    if (--this.runningCount === 0) this.waiters.release();
  }

  whenZero(): Promise<void> {
    return this.runningCount === 0 ? Promise.resolve() : this.waiters.wait();
  }
}

/** The number of requests in flight of all clients. The drain waits until they are finished. */
export class InFlightRequests {
  private current = new RequestCount();
  /** The requests that began before `whenCurrentFinished` was called. */
  private earlier = new RequestCount();

  get size(): number {
    return this.earlier.size + this.current.size;
  }

  /** Counts a request until `finish` of the returned count is called. */
  begin(): Pick<RequestCount, 'finish'> {
    const { current } = this;
    current.begin();
    return current;
  }

  /** Resolves when all requests that are running now are finished. Does not wait for later requests. Call this once. */
  whenCurrentFinished(): Promise<void> {
    this.earlier = this.current;
    this.current = new RequestCount();
    return this.earlier.whenZero();
  }

  /** Resolves when no request is running and all responses are written. */
  async whenIdle(): Promise<void> {
    do {
      await Promise.all([this.earlier.whenZero(), this.current.whenZero()]);
      // Responses are written in setImmediate. Another request may arrive before this promise resolves.
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.size > 0);
  }
}
