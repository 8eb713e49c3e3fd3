import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Backend } from '../backends/backend.js';
import { Backends } from '../backends/backends.service.js';
import type { Link } from '../backends/link/link.js';
import { timeoutError } from '../backends/link/link-errors.js';
import { withTimeout } from '../lib/deadlines/timeout.js';
import { RemoteError } from '../core/errors.js';
import type { ResourceAddress } from '../core/resources/resource-uri.js';
import { patternOf, type ResourcePattern } from '../core/resources/resource-pattern.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import {
  UpstreamSubscriptions,
  type UpstreamObserver,
} from '../core/subscriptions/upstream-subscriptions.js';
import { Metrics } from '../metrics/metrics.js';
import { Registry } from '../registry/registry.service.js';
import { OwnUpstreams } from './own-upstreams.js';
import { MAX_PATTERN_MATCHES } from './pattern-matches.js';
import { Retries } from './retries.js';
import { takesSubscriptions, upstreamOver } from './server-upstream.js';
import { Subscribers } from './subscribers.js';
import { Updates } from './updates.js';
import { UPSTREAM_OPTIONS } from './upstream-options.js';
import { WantedResources } from './wanted-resources.js';

/** How many requests for one pattern are on their way at once. */
const PARALLEL = 8;

/** How something came into the list of its server. */
export interface Appearance {
  /** Clients had another name for it. */
  readonly isRenamed: boolean;
  /** It was not known before what the server has. */
  readonly isFirst: boolean;
}

/** Has every server keep the gateway informed of just what clients want to hear of. */
@Injectable()
export class Upstreams implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('Subscriptions');
  private readonly wishes: WantedResources;
  /** What servers hold for all clients together. */
  private readonly shared: UpstreamSubscriptions;
  private readonly own: OwnUpstreams;
  /** By server: the link that clients share. */
  private readonly links = new Map<string, Link>();
  /** By server: how long it is between two looks at a resource. */
  private readonly pauses = new Map<string, number | undefined>();
  private readonly retries = new Retries((server) => this.retry(server));

  constructor(
    private readonly subscribers: Subscribers,
    private readonly updates: Updates,
    registry: Registry,
    private readonly backends: Backends,
    private readonly metrics: Metrics,
  ) {
    this.wishes = new WantedResources(subscribers.table, registry, (server) =>
      this.logger.warn({ message: `only ${MAX_PATTERN_MATCHES} resources of a pattern are watched`, server }),
    );
    const { wishes } = this;
    const failed: UpstreamObserver['failed'] = (server, request, uri, error) => {
      this.logger.warn({ message: `resources/${request} failed`, server, uri, cause: String(error) });
      // Whoever wants it believes to be subscribed.
      if (request === 'subscribe') this.retries.plan(server);
    };
    const restored: UpstreamObserver['restored'] = (server, uri) => {
      this.retries.worked(server);
      // Whoever was told that it is gone would take an update for its return.
      if (!wishes.isGone(server, uri)) updates.mayHaveChanged(server, uri);
    };
    this.shared = new UpstreamSubscriptions(wishes, { restored, failed }, UPSTREAM_OPTIONS);
    this.own = new OwnUpstreams(subscribers, updates, backends, wishes, failed);
  }

  onModuleInit(): void {
    this.metrics.upstreamSubscriptions = () => this.shared.size + this.own.size;
    this.backends.onLink((backend, link) => this.linked(backend, link));
    this.backends.onSessionLink((backend, link, owner) => this.own.linked(backend, link, owner));
    this.backends.onReconfigured((backend) => this.adjusted(backend));
    this.subscribers.onChange((subscription, _client, isThere) => this.own.changed(subscription, isThere));
    this.subscribers.onLeave((removed) => {
      for (const { subscription, wasLast } of removed) if (wasLast) this.release(subscription);
    });
  }

  onApplicationShutdown(): void {
    this.retries.stop();
    this.own.stop();
    this.shared.close();
  }

  /** Resolves when the server has been told. Of a pattern, what can be told is told; something must. */
  async ensure(subscription: Subscription): Promise<void> {
    const pattern = patternOf(subscription.uri);
    const uris = pattern ? await this.wishes.matching(subscription.server, pattern) : [subscription.uri];
    const left = uris[Symbol.iterator]();
    const failures: unknown[] = [];
    let told = 0;
    const tell = async (): Promise<void> => {
      for (let next = left.next(); !next.done; next = left.next()) {
        try {
          await this.tell(subscription, next.value);
          told++;
        } catch (error) {
          failures.push(error);
          // One resource may be refused and the next be taken; a server that is gone, or hangs, takes none.
          if (!(error instanceof RemoteError)) return;
        }
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, tell));
    if (failures.length > 0 && told === 0) throw failures[0];
    if (failures.length > 0) this.retries.plan(subscription.server);
  }

  /** The last who wanted it has left. */
  release({ server, uri }: ResourceAddress): void {
    const pattern = patternOf(uri);
    if (pattern) this.shared.releaseMatching(server, (own) => pattern.matches(own));
    else this.shared.release(server, uri);
  }

  /** Something that is wanted is there, or there again. What only a pattern wants is told of by `refit`. */
  appeared({ server, uri }: ResourceAddress, { isRenamed, isFirst }: Appearance): void {
    const isNamed = this.subscribers.table.target(server, uri) !== undefined;
    for (const { upstreams, subscriber } of this.sidesOf(server)) {
      const isTold = upstreams.isTold(server);
      // What was wanted by its name was told of when the link was up, but before the first lists by a makeshift name.
      const isOld = isTold ? upstreams.holds(server, uri) : isFirst && isNamed;
      if (isOld ? isRenamed || !isFirst : !isTold) this.updates.mayHaveChanged(server, uri, subscriber);
      else if (isTold && isNamed) upstreams.restore(server, [uri]);
    }
  }

  /** Makes sure that a server has been told of what fits a pattern now, of no more than it is told of at once. */
  async refit(server: string, pattern: ResourcePattern): Promise<void> {
    const uris = await this.wishes.matching(server, pattern);
    for (const { upstreams } of this.sidesOf(server)) {
      const known = upstreams.knownMatching(server, (uri) => pattern.matches(uri));
      let room = MAX_PATTERN_MATCHES - known.size;
      upstreams.restore(
        server,
        uris.filter((uri) => known.has(uri) || room-- > 0),
      );
    }
  }

  /** What a server has been told of, or is to be, on whosever behalf. */
  *known(server: string): Iterable<string> {
    for (const { upstreams } of this.sidesOf(server)) yield* upstreams.knownMatching(server, () => true);
  }

  /** Something that is wanted is not there any more; the server may forget it. */
  vanished(address: ResourceAddress, publicUri: string): void {
    const { server, uri } = address;
    for (const { upstreams } of this.sidesOf(server)) {
      upstreams.doubt(server, uri);
      // Wanted by its name, it is kept for when it comes back. A pattern wants what there is.
      upstreams.release(server, uri);
    }
    this.updates.deleted(address, publicUri);
  }

  private *sidesOf(server: string): Iterable<{ upstreams: UpstreamSubscriptions; subscriber?: string }> {
    if (this.backends.find(server)?.hasSessionLinks) yield* this.own.sidesOf(server);
    else yield { upstreams: this.shared };
  }

  private linked(backend: Backend, link: Link | undefined): void {
    const { id } = backend;
    this.retries.forget(id);
    this.links.delete(id);
    this.pauses.delete(id);
    this.shared.disconnected(id);
    if (!link) return;
    this.links.set(id, link);
    this.pauses.set(id, backend.config.watch.pollMs);
    if (backend.hasSessionLinks) this.own.reconcile(id);
    else {
      this.connected(backend, link);
      link.onGap(() => (takesSubscriptions(link) ? this.shared.renew(id) : this.tellOfAll(id)));
    }
  }

  private connected(backend: Backend, link: Link): void {
    const { id } = backend;
    this.shared.connected(
      id,
      upstreamOver(backend, link, (uri) => this.updates.mayHaveChanged(id, uri)),
    );
    this.tellOfAll(id);
  }

  /** Resources are looked at more often than before, less often, or not at all. */
  private adjusted(backend: Backend): void {
    const { id, config } = backend;
    const link = this.links.get(id);
    if (!link || takesSubscriptions(link) || this.pauses.get(id) === config.watch.pollMs) return;
    this.pauses.set(id, config.watch.pollMs);
    if (backend.hasSessionLinks) this.own.adjusted(backend);
    else this.connected(backend, link);
  }

  /** A server that is not told may have said something while nobody heard it, like any other. */
  private tellOfAll(server: string): void {
    if (this.shared.isTold(server)) return;
    for (const uri of new Set(this.wishes.of(server)))
      if (!this.wishes.isGone(server, uri)) this.updates.mayHaveChanged(server, uri);
  }

  private retry(server: string): void {
    const { wishes } = this;
    for (const { upstreams, subscriber } of this.sidesOf(server)) {
      const wanted = subscriber === undefined ? wishes.of(server) : wishes.ofClient(subscriber, server);
      upstreams.restore(
        server,
        [...wanted].filter((uri) => wishes.isOffered(server, uri)),
      );
    }
  }

  /** Waits no longer than a call would. */
  private async tell(subscription: Subscription, uri: string): Promise<void> {
    const { server } = subscription;
    const backend = this.backends.get(server);
    const { timeoutMs } = backend.config;
    const told = backend.hasSessionLinks
      ? this.own.ensure(backend, subscription, uri)
      : this.tellShared(this.links.get(server), backend, uri);
    await withTimeout(told, timeoutMs, () => timeoutError(server, 'resources/subscribe', timeoutMs));
  }

  /** A server that only forgot us is told on the next link. */
  private async tellShared(link: Link | undefined, backend: Backend, uri: string): Promise<void> {
    try {
      return await this.shared.ensure(backend.id, uri);
    } catch (error) {
      if (error instanceof RemoteError || !(await backend.replacementLink(link))) throw error;
    }
    await this.shared.ensure(backend.id, uri);
  }
}
