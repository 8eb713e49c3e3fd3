import { serverUnavailable } from '../errors.js';
import { UpstreamLane, type LaneSetting, type Schedule, type Upstream } from './upstream-lane.js';

/** What servers should hold for us. It decides at every step, so that no count of ours can go wrong. */
export interface WantedSubscriptions {
  has(server: string, uri: string): boolean;
  of(server: string): Iterable<string>;
}

export interface UpstreamObserver {
  /** Subscribed in the background: whoever wants it may have missed an update and should get one. */
  restored(server: string, uri: string): void;
  /** A request failed that no client waits for. What is wanted stays wanted; nothing is tried again by itself. */
  failed(server: string, request: 'subscribe' | 'unsubscribe', uri: string, error: unknown): void;
}

export interface UpstreamOptions {
  /** How long a URI that nobody wants any more stays subscribed, in case somebody does again. */
  readonly lingerMs: number;
  readonly schedule: Schedule;
  /** How many requests may be on their way to one server at once: for clients who wait, and as many for nobody who does. */
  readonly parallel?: number;
}

/**
 * Makes every server hold what is wanted of it, and once only however many want it. Change what is wanted first and
 * say so here then: `ensure` when somebody joined, `release` when the last has left.
 */
export class UpstreamSubscriptions {
  /** By server, while its link is up. Undefined for a server that takes no subscriptions. */
  private readonly lanes = new Map<string, UpstreamLane | undefined>();

  constructor(
    private readonly wanted: WantedSubscriptions,
    private readonly observer: UpstreamObserver,
    private readonly options: UpstreamOptions,
  ) {}

  /** How many URIs all servers hold together. */
  get size(): number {
    let size = 0;
    for (const lane of this.lanes.values()) size += lane?.held ?? 0;
    return size;
  }

  sizeOf(server: string): number {
    return this.lanes.get(server)?.held ?? 0;
  }

  /** Whether the server is there and takes subscriptions. */
  isTold(server: string): boolean {
    return this.lanes.get(server) !== undefined;
  }

  /** A link is up, and knows nothing yet: whatever is wanted is subscribed in the background. */
  connected(server: string, upstream: Upstream | undefined): void {
    this.disconnected(server);
    this.lanes.set(server, upstream && new UpstreamLane(upstream, this.settingOf(server)));
    if (upstream) this.restore(server, this.wanted.of(server));
  }

  /** The link is gone, or the server is not to be used any more. Sends nothing; whoever waits fails. */
  disconnected(server: string): void {
    const lane = this.lanes.get(server);
    this.lanes.delete(server);
    lane?.end('the connection was lost');
  }

  /**
   * Resolves when the server holds what is wanted. Everybody who asks while the request is under way shares its
   * outcome. Rejects with the server's refusal, or when there is no link.
   */
  async ensure(server: string, uri: string): Promise<void> {
    if (!this.lanes.has(server)) throw serverUnavailable(server, 'it is not connected');
    await this.lanes.get(server)?.ensure(uri);
  }

  /** The last who wanted it left: unless somebody comes back in time, the server is told. */
  release(server: string, uri: string): void {
    this.lanes.get(server)?.release(uri);
  }

  /** The same for all of these at once: whichever of them is still wanted stays. */
  releaseMatching(server: string, matches: (uri: string) => boolean): void {
    this.lanes.get(server)?.releaseMatching(matches);
  }

  /** Subscribes in the background whatever of these is wanted and not held. */
  restore(server: string, uris: Iterable<string>): void {
    const lane = this.lanes.get(server);
    if (lane) for (const uri of Array.from(uris)) lane.restore(uri);
  }

  /** Whether the server is known to hold it. */
  holds(server: string, uri: string): boolean {
    return this.lanes.get(server)?.holds(uri) ?? false;
  }

  /** What of these the server has been told of, or is to be. */
  knownMatching(server: string, matches: (uri: string) => boolean): ReadonlySet<string> {
    return this.lanes.get(server)?.knownMatching(matches) ?? new Set();
  }

  /** The server may have forgotten it, as when the resource vanished: the next to ask for it makes sure. */
  doubt(server: string, uri: string): void {
    this.lanes.get(server)?.doubt(uri);
  }

  /**
   * The link holds, but what the server said may have been missed, and it may be another that knows nothing: the same
   * as for a new link.
   */
  renew(server: string): void {
    this.lanes.get(server)?.doubtAll();
    this.restore(server, this.wanted.of(server));
  }

  close(): void {
    for (const server of this.lanes.keys()) this.disconnected(server);
  }

  private settingOf(server: string): LaneSetting {
    const { lingerMs, schedule, parallel = 8 } = this.options;
    return {
      server,
      lingerMs,
      schedule,
      parallel,
      wants: (uri) => this.wanted.has(server, uri),
      restored: (uri) => this.observer.restored(server, uri),
      failed: (request, uri, error) => this.observer.failed(server, request, uri, error),
    };
  }
}
