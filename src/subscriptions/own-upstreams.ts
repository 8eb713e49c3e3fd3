import type { Backend } from '../backends/backend.js';
import type { Backends } from '../backends/backends.service.js';
import type { Link } from '../backends/link/link.js';
import { RemoteError } from '../core/errors.js';
import { patternOf } from '../core/resources/resource-pattern.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import {
  UpstreamSubscriptions,
  type UpstreamObserver,
} from '../core/subscriptions/upstream-subscriptions.js';
import type { ClientSession } from '../mcp/mcp-context.js';
import { Retries } from './retries.js';
import { takesSubscriptions, upstreamOver } from './server-upstream.js';
import type { Subscribers } from './subscribers.js';
import type { Updates } from './updates.js';
import { UPSTREAM_OPTIONS } from './upstream-options.js';
import type { WantedResources } from './wanted-resources.js';

const PAUSES = { firstMs: 500, longestMs: 30_000 };
/** A link that lived this long was no part of the trouble before it. */
const STABLE_MS = 10_000;

/** What servers hold for one client. */
export interface Side {
  readonly subscriber: string;
  readonly upstreams: UpstreamSubscriptions;
  /** By server: the link that the client has to itself. */
  readonly links: Map<string, Link>;
}

/**
 * Where a server keeps a link for each client, that is where a client's reads go, and so do its subscriptions: another
 * process would tell of other changes. As long as a client wants something, its link is kept up.
 */
export class OwnUpstreams {
  private readonly sides = new Map<string, Side>();
  /** By id: subscriptions whose clients wait for an answer. */
  private readonly asking = new Set<string>();
  private readonly retries = new Retries((server) => this.reconcile(server), PAUSES);

  constructor(
    private readonly subscribers: Subscribers,
    private readonly updates: Updates,
    private readonly backends: Backends,
    private readonly wishes: WantedResources,
    private readonly failed: UpstreamObserver['failed'],
  ) {}

  get size(): number {
    let size = 0;
    for (const { upstreams } of this.sides.values()) size += upstreams.size;
    return size;
  }

  *sidesOf(server: string): Iterable<Side> {
    for (const side of this.sides.values()) if (side.links.has(server)) yield side;
  }

  /** Resolves when the server has been told over the client's own link, which is opened for it. */
  async ensure(backend: Backend, subscription: Subscription, uri: string): Promise<void> {
    const client = this.subscribers.client(subscription);
    if (!client) return;
    this.asking.add(subscription.id);
    try {
      await this.tell(backend, client, uri);
    } finally {
      this.asking.delete(subscription.id);
    }
  }

  /** A subscription has come or gone. */
  changed(subscription: Subscription, isThere: boolean): void {
    const { subscriber, server, uri } = subscription;
    if (!this.backends.find(server)?.hasSessionLinks) return;
    // One that nobody asks for now is of an earlier life.
    if (isThere) setImmediate(() => this.reopen(server, subscriber));
    else {
      const pattern = patternOf(uri);
      const held = this.sides.get(subscriber)?.upstreams;
      if (pattern) held?.releaseMatching(server, (own) => pattern.matches(own));
      else held?.release(server, uri);
    }
  }

  /** The client has a link to itself; `link.closed` says when it has none any more. */
  linked(backend: Backend, link: Link, client: ClientSession): void {
    const { id } = backend;
    const side = this.sides.get(client.id) ?? this.open(client.id);
    const since = performance.now();
    side.links.set(id, link);
    this.connected(side, backend, link);
    link.onGap(() => (takesSubscriptions(link) ? side.upstreams.renew(id) : this.tellOfAll(side, id)));
    void link.closed.then(() => this.lost(side, id, link, performance.now() - since > STABLE_MS));
  }

  /** The server is asked in another way from now on. */
  adjusted(backend: Backend): void {
    for (const side of this.sidesOf(backend.id)) this.connected(side, backend, side.links.get(backend.id)!);
  }

  /** Everybody who wants something of the server has a link to it, or gets one. */
  reconcile(server: string): void {
    for (const subscriber of this.wishes.subscribersOf(server)) this.reopen(server, subscriber);
  }

  stop(): void {
    this.retries.stop();
    for (const { upstreams } of this.sides.values()) upstreams.close();
  }

  private connected(side: Side, backend: Backend, link: Link): void {
    const { upstreams, subscriber } = side;
    const { id } = backend;
    const changed = (uri: string): void => this.updates.mayHaveChanged(id, uri, subscriber);
    upstreams.connected(id, upstreamOver(backend, link, changed));
    this.tellOfAll(side, id);
  }

  /** A server that is not told may have said something while nobody heard it. */
  private tellOfAll({ upstreams, subscriber }: Side, server: string): void {
    if (upstreams.isTold(server)) return;
    for (const uri of new Set(this.wantedOf(subscriber, server)))
      if (!this.wishes.isGone(server, uri)) this.updates.mayHaveChanged(server, uri, subscriber);
  }

  /** Whoever is just being answered has missed nothing. */
  private wantedOf(subscriber: string, server: string): Iterable<string> {
    return this.wishes.ofClient(subscriber, server, (id) => !this.asking.has(id));
  }

  private async tell(backend: Backend, client: ClientSession, uri: string): Promise<void> {
    const link = await backend.sessionLink(client);
    try {
      return await this.sides.get(client.id)?.upstreams.ensure(backend.id, uri);
    } catch (error) {
      const isThere = this.sides.get(client.id)?.links.get(backend.id) === link;
      if (isThere || error instanceof RemoteError) throw error;
    }
    await backend.sessionLink(client);
    await this.sides.get(client.id)?.upstreams.ensure(backend.id, uri);
  }

  private open(subscriber: string): Side {
    const { wishes } = this;
    const upstreams = new UpstreamSubscriptions(
      {
        has: (server, uri) => wishes.hasOf(subscriber, server, uri),
        of: (server) => this.wantedOf(subscriber, server),
      },
      {
        restored: (server, uri) => {
          if (!wishes.isGone(server, uri)) this.updates.mayHaveChanged(server, uri, subscriber);
        },
        failed: this.failed,
      },
      UPSTREAM_OPTIONS,
    );
    const side: Side = { subscriber, upstreams, links: new Map() };
    this.sides.set(subscriber, side);
    return side;
  }

  private lost(side: Side, server: string, link: Link, wasStable: boolean): void {
    if (side.links.get(server) !== link) return;
    side.links.delete(server);
    side.upstreams.disconnected(server);
    if (side.links.size === 0 && this.sides.get(side.subscriber) === side) this.sides.delete(side.subscriber);
    if (wasStable) this.retries.forget(server);
    if (this.isWanted(server, side.subscriber)) this.retries.plan(server);
  }

  private reopen(server: string, subscriber: string): void {
    const backend = this.backends.find(server);
    if (!backend?.hasSessionLinks || this.sides.get(subscriber)?.links.has(server)) return;
    const row = this.rowsOf(subscriber).find((one) => one.server === server);
    const client = row && this.subscribers.client(row);
    if (!client || this.asking.has(row.id)) return;
    backend.sessionLink(client).catch(() => this.retries.plan(server));
  }

  private isWanted(server: string, subscriber: string): boolean {
    return this.rowsOf(subscriber).some((row) => row.server === server);
  }

  private rowsOf(subscriber: string): Subscription[] {
    return [...this.subscribers.table.ofSubscriber(subscriber)];
  }
}
