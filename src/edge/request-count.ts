import { Waiters } from '../lib/listeners/waiters.js';

/** Counts running requests, and lets callers wait until none is left. */
export class RequestCount {
  private running = 0;
  private readonly waiters = new Waiters();

  get size(): number {
    return this.running;
  }

  begin(): void {
    this.running++;
  }

  finish(): void {
    if (--this.running === 0) this.waiters.release();
  }

  whenZero(): Promise<void> {
    return this.running === 0 ? Promise.resolve() : this.waiters.wait();
  }
}
