import type { Schedule } from '../../src/lib/backoff/retry-timer.js';
import {
  UpstreamReconciler,
  type DesiredSubscriptions,
  type ReconcilerEvents,
  type Upstream,
} from '../../src/core/subscriptions/upstream-reconciler.js';
import { flushPromises } from './fake-link.js';

/** An upstream whose requests wait until the spec answers them. */
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

  /** Answers the request, and runs what follows from the answer. */
  async answer(request: string, error?: Error): Promise<void> {
    const settle = this.pending.get(request);
    if (!settle) throw new Error(`${request} is not on the wire: ${this.waiting.join()}`);
    this.pending.delete(request);
    settle(error);
    await flushPromises();
  }

  private send(request: string): Promise<void> {
    this.sent.push(request);
    return new Promise((resolve, reject) => {
      this.pending.set(request, (error) => (error ? reject(error) : resolve()));
    });
  }
}

/** Timers that run when the spec says so. */
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
    await flushPromises();
  }
}

/** The upstream of a server that takes no subscriptions. */
export const UNSOLICITED_UPSTREAM: Upstream = {
  subscribe: () => Promise.resolve(),
  unsubscribe: () => Promise.resolve(),
};

interface ReconcilerSetup {
  readonly server?: string;
  readonly upstream: Upstream;
  readonly desired: DesiredSubscriptions;
  readonly events?: ReconcilerEvents;
  readonly maxConcurrent: number;
  readonly schedule: Schedule;
}

export const openReconciler = (setup: ReconcilerSetup): UpstreamReconciler =>
  new UpstreamReconciler(
    setup.server ?? 'files',
    setup.upstream,
    setup.desired,
    setup.events ?? { resubscribed: () => undefined, failed: () => undefined },
    {
      lingerMs: 100,
      maxConcurrent: setup.maxConcurrent,
      retry: { firstMs: 5000, maxMs: 300_000 },
      schedule: setup.schedule,
    },
  );
