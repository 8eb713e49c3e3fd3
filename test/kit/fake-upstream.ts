import type { Upstream } from '../../src/core/subscriptions/upstream-lane.js';
import { settled } from './fake-link.js';

/** A link whose requests wait to be answered by the test. */
export class FakeUpstream implements Upstream {
  readonly sent: string[] = [];
  stops = 0;
  private readonly pending = new Map<string, (error?: Error) => void>();

  subscribe(uri: string): Promise<void> {
    return this.send(`+${uri}`);
  }

  stop(): void {
    this.stops++;
  }

  unsubscribe(uri: string): Promise<void> {
    return this.send(`-${uri}`);
  }

  get waiting(): string[] {
    return [...this.pending.keys()];
  }

  /** Answers the request, and lets everybody hear of it. */
  async answer(request: string, error?: Error): Promise<void> {
    const settle = this.pending.get(request);
    if (!settle) throw new Error(`${request} is not on the wire: ${this.waiting.join()}`);
    this.pending.delete(request);
    settle(error);
    await settled();
  }

  private send(request: string): Promise<void> {
    this.sent.push(request);
    return new Promise((resolve, reject) => {
      this.pending.set(request, (error) => (error ? reject(error) : resolve()));
    });
  }
}

/** Time stands still until the test lets the linger be over. */
export class ManualTimers {
  private readonly waiting = new Set<() => void>();

  readonly schedule = (run: () => void): (() => void) => {
    const timer = (): void => run();
    this.waiting.add(timer);
    return () => this.waiting.delete(timer);
  };

  get size(): number {
    return this.waiting.size;
  }

  async elapse(): Promise<void> {
    const due = [...this.waiting];
    this.waiting.clear();
    for (const run of due) run();
    await settled();
  }
}
