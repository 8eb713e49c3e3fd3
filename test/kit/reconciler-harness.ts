import type {
  DesiredSubscriptions,
  ReconcilerEvents,
  Upstream,
} from '../../src/core/subscriptions/upstream.js';
import { UpstreamReconciler } from '../../src/core/subscriptions/upstream-reconciler.js';
import type { Schedule } from '../../src/lib/backoff/retry-timer.js';
import { WorkerPool } from '../../src/lib/queues/worker-pool.js';
import { flushPromises } from './promises.js';

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

  /** Answers the request and runs pending promise callbacks. */
  async answer(request: string, error?: Error): Promise<void> {
    const settle = this.pending.get(request);
    if (!settle) throw new Error(`${request} is not in flight: ${this.waiting.join()}`);
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

/** Timers that the spec runs. */
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

/** The upstream of a server without subscriptions: confirms every request. */
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

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'no error');

const isCollection = (field: unknown): boolean => field instanceof Map || field instanceof WorkerPool;

/** A reconciler over a fake upstream, with two requests at once and timers that the spec runs. */
export class ReconcilerHarness {
  readonly wanted = new Set<string>();
  readonly upstream = new FakeUpstream();
  readonly timers = new ManualTimers();
  readonly events: string[] = [];
  readonly outcomes: string[] = [];
  isOffered: (uri: string) => boolean = () => true;
  reconciler = this.open(this.upstream);

  /** Replaces the reconciler. */
  open(
    upstream: Upstream,
    events: ReconcilerEvents = {
      resubscribed: (uri) => this.events.push(`resubscribed ${uri}`),
      failed: (request, uri, error) => this.events.push(`${request} ${uri}: ${messageOf(error)}`),
    },
  ): UpstreamReconciler {
    this.reconciler = openReconciler({
      upstream,
      desired: { isWanted: (uri) => this.wanted.has(uri), isOffered: (uri) => this.isOffered(uri) },
      events,
      maxConcurrent: 2,
      schedule: this.timers.schedule,
    });
    return this.reconciler;
  }

  /** A client subscribes; the outcome is in `outcomes`. */
  async subscribe(client: string, uri = 'a'): Promise<void> {
    this.wanted.add(uri);
    this.reconciler.confirm(uri).then(
      () => this.outcomes.push(`${client} ok`),
      (error: unknown) => this.outcomes.push(`${client}: ${messageOf(error)}`),
    );
    await flushPromises();
  }

  /** The last subscriber of a URI unsubscribes. */
  async unsubscribe(uri = 'a'): Promise<void> {
    this.wanted.delete(uri);
    this.reconciler.rowRemoved(uri);
    await flushPromises();
  }

  /** Subscribes these URIs at the upstream, and clears what was recorded. */
  async hold(...uris: string[]): Promise<void> {
    for (const uri of uris) {
      await this.subscribe('first', uri);
      await this.upstream.answer(`+${uri}`);
    }
    this.outcomes.splice(0);
    this.upstream.sent.splice(0);
  }

  /** Adds rows of a previous link or process. */
  want(...uris: string[]): void {
    for (const uri of uris) this.wanted.add(uri);
    for (const uri of uris) this.reconciler.markDirty(uri);
  }

  /** How many states, queue entries and timers are left. */
  get leftovers(): number {
    const collections = Object.values(this.reconciler).filter(isCollection) as { size: number }[];
    if (collections.length !== 3) throw new Error(`${collections.length} collections instead of 3`);
    return collections.reduce((sum, { size }) => sum + size, this.timers.size + this.reconciler.size);
  }
}

/** One reconciler per server that is up, with one request at once and timers that the spec runs. */
export class FakeLinks {
  readonly reconcilers = new Map<string, UpstreamReconciler>();
  readonly timers = new Set<() => void>();

  constructor(private readonly isWanted: (server: string, uri: string) => boolean) {}

  open(server: string, upstream: Upstream, wanted: Iterable<string>): void {
    this.close(server);
    const reconciler = openReconciler({
      server,
      upstream,
      desired: { isWanted: (uri) => this.isWanted(server, uri), isOffered: () => true },
      maxConcurrent: 1,
      schedule: (run) => {
        this.timers.add(run);
        return () => this.timers.delete(run);
      },
    });
    this.reconcilers.set(server, reconciler);
    for (const uri of wanted) reconciler.markDirty(uri);
  }

  close(server: string): void {
    this.reconcilers.get(server)?.close('the connection was lost');
    this.reconcilers.delete(server);
  }

  async confirm(server: string, uri: string): Promise<void> {
    const reconciler = this.reconcilers.get(server);
    if (!reconciler) throw new Error('not connected');
    await reconciler.confirm(uri);
  }
}

/** The number of entries in all maps and sets that are reachable from an object. */
export function entriesIn(thing: unknown, seen = new Set<unknown>()): number {
  if (typeof thing !== 'object' || thing === null || seen.has(thing)) return 0;
  seen.add(thing);
  const isMapOrSet = thing instanceof Map || thing instanceof Set;
  const inside: unknown[] = isMapOrSet ? [...thing.values()] : Object.values(thing);
  return inside.reduce<number>((sum, each) => sum + entriesIn(each, seen), isMapOrSet ? thing.size : 0);
}
