import {
  UpstreamReconciler,
  type ReconcilerEvents,
  type Upstream,
} from '../../src/core/subscriptions/upstream-reconciler.js';
import { WorkerPool } from '../../src/lib/queues/worker-pool.js';
import { flushPromises } from './fake-link.js';
import { FakeUpstream, ManualTimers, openReconciler } from './fake-upstream.js';

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

  /** Puts another reconciler in place. */
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
