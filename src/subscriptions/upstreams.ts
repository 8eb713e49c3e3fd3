import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Backend } from '../backends/backend.js';
import { Backends } from '../backends/backends.service.js';
import type { Link } from '../backends/link.js';
import { timedOut } from '../backends/link-faults.js';
import { inTime } from '../backends/within.js';
import { RemoteError } from '../core/errors.js';
import { ResourceList } from '../core/resource-list.js';
import { resourceForm, type Address } from '../core/resource-uri.js';
import { patternOf, type ResourcePattern } from '../core/resource-pattern.js';
import { EVERYTHING } from '../core/scope.js';
import { UpstreamSubscriptions } from '../core/upstream-subscriptions.js';
import { Metrics } from '../metrics/metrics.js';
import { Registry } from '../registry/registry.service.js';
import { matchesIn, MOST_MATCHES } from './pattern-matches.js';
import { Retries } from './retries.js';
import { takesSubscriptions, upstreamOver } from './server-upstream.js';
import { Subscribers } from './subscribers.js';
import { Updates } from './updates.js';

/** Clients come and go; a server is not told of each. */
const LINGER_MS = 500;
/** How many requests for one pattern are on their way at once. */
const PARALLEL = 8;

/** Has every server keep the gateway informed of just what clients want to hear of. */
@Injectable()
export class Upstreams implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('Subscriptions');
  private readonly upstreams: UpstreamSubscriptions;
  /** By server: the link that clients share. */
  private readonly links = new Map<string, Link>();
  private readonly retries = new Retries((server) =>
    this.upstreams.restore(
      server,
      [...this.wantedOf(server)].filter((uri) => this.isOffered(server, uri)),
    ),
  );

  constructor(
    private readonly subscribers: Subscribers,
    private readonly updates: Updates,
    private readonly registry: Registry,
    private readonly backends: Backends,
    private readonly metrics: Metrics,
  ) {
    this.upstreams = new UpstreamSubscriptions(
      { has: (server, uri) => this.wants(server, uri), of: (server) => this.wantedOf(server) },
      {
        restored: (server, uri) => {
          this.retries.worked(server);
          // Whoever was told that it is gone would take an update for its return.
          if (!this.isGone(server, uri)) updates.mayHaveChanged(server, uri);
        },
        failed: (server, request, uri, error) => {
          this.logger.warn({ message: `resources/${request} failed`, server, uri, cause: String(error) });
          // Whoever wants it believes to be subscribed.
          if (request === 'subscribe') this.retries.plan(server);
        },
      },
      { lingerMs: LINGER_MS, schedule: runLater },
    );
  }

  onModuleInit(): void {
    this.metrics.upstreamSubscriptions = () => this.upstreams.size;
    this.backends.onLink((backend, link) => this.linked(backend, link));
    this.subscribers.onLeave((removed) => {
      for (const { subscription, wasLast } of removed) if (wasLast) this.release(subscription);
    });
  }

  onApplicationShutdown(): void {
    this.retries.stop();
    this.upstreams.close();
  }

  /** Resolves when the server has been told. Of a pattern, what can be told is told; something must. */
  async ensure(address: Address): Promise<void> {
    const { server } = address;
    const left = this.concrete(address)[Symbol.iterator]();
    const failures: unknown[] = [];
    let told = 0;
    const tell = async (): Promise<void> => {
      for (let next = left.next(); !next.done; next = left.next()) {
        try {
          await this.tell(server, next.value);
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
    if (failures.length > 0) this.retries.plan(server);
  }

  /** The last who wanted it has left. */
  release({ server, uri }: Address): void {
    const pattern = patternOf(uri);
    if (pattern) this.upstreams.releaseMatching(server, (own) => pattern.matches(own));
    else this.upstreams.release(server, uri);
  }

  /** Something that is wanted is there, or there again. */
  appeared({ server, uri }: Address): void {
    if (this.upstreams.isTold(server)) this.upstreams.restore(server, [uri]);
    else this.updates.mayHaveChanged(server, uri);
  }

  /** Makes sure that a server has been told of what fits a pattern now. */
  refit(server: string, pattern: ResourcePattern): void {
    this.upstreams.restore(server, this.matching(server, pattern));
  }

  /** Something that is wanted is not there any more; the server may forget it. */
  vanished(address: Address, publicUri: string): void {
    const { server, uri } = address;
    this.upstreams.doubt(server, uri);
    // Wanted by its name, it is kept for when it comes back. A pattern wants what there is.
    this.upstreams.release(server, uri);
    this.updates.deleted(address, publicUri);
  }

  private linked(backend: Backend, link: Link | undefined): void {
    const { id } = backend;
    this.retries.forget(id);
    this.links.delete(id);
    if (!link) {
      this.upstreams.disconnected(id);
      return;
    }
    this.links.set(id, link);
    const upstream = upstreamOver(backend, link, (uri) => this.updates.mayHaveChanged(id, uri));
    this.upstreams.connected(id, upstream);
    if (takesSubscriptions(link)) link.onGap(() => this.upstreams.renew(id));
    if (upstream) return;
    // A server that is not told may have said something while nobody heard it, like any other.
    this.allMayHaveChanged(id);
    link.onGap(() => this.allMayHaveChanged(id));
  }

  private allMayHaveChanged(server: string): void {
    for (const uri of new Set(this.wantedOf(server))) this.updates.mayHaveChanged(server, uri);
  }

  /** Waits no longer than a call would. A server that only forgot us is told on the next link. */
  private async tell(server: string, uri: string): Promise<void> {
    const backend = this.backends.get(server);
    const { timeoutMs } = backend.config;
    await inTime(this.tellOver(this.links.get(server), backend, uri), timeoutMs, () =>
      timedOut(server, 'resources/subscribe', timeoutMs),
    );
  }

  private async tellOver(link: Link | undefined, backend: Backend, uri: string): Promise<void> {
    try {
      return await this.upstreams.ensure(backend.id, uri);
    } catch (error) {
      if (!link || !(await backend.replacement(link))) throw error;
    }
    await this.upstreams.ensure(backend.id, uri);
  }

  private wants(server: string, uri: string): boolean {
    const { table } = this.subscribers;
    if (table.target(server, uri)) return true;
    return table.wants(server, uri) && this.listOf(server).find(uri) !== undefined;
  }

  private *wantedOf(server: string): Iterable<string> {
    for (const { uri, pattern } of this.subscribers.table.targetsOf(server)) {
      if (pattern) yield* this.matching(server, pattern);
      else yield uri;
    }
  }

  /** What is wanted by its name may be gone; there is no use in asking for that again and again. */
  private isOffered(server: string, uri: string): boolean {
    return this.registry.catalog.resources.view(EVERYTHING).find(resourceForm({ server, uri })) !== undefined;
  }

  /** As far as anybody knows: a server that is new may not have said yet what it has. */
  private isGone(server: string, uri: string): boolean {
    return this.listOf(server) !== ResourceList.EMPTY && !this.isOffered(server, uri);
  }

  private concrete({ server, uri }: Address): Iterable<string> {
    const pattern = patternOf(uri);
    return pattern ? this.matching(server, pattern) : [uri];
  }

  private matching(server: string, pattern: ResourcePattern): Iterable<string> {
    return matchesIn(this.listOf(server), pattern, () =>
      this.logger.warn({ message: `only ${MOST_MATCHES} resources of a pattern are watched`, server }),
    );
  }

  private listOf(server: string): ResourceList {
    const { servers } = this.registry.catalog;
    return servers.find(({ id }) => id === server)?.listing.resources ?? ResourceList.EMPTY;
  }
}

function runLater(run: () => void, delayMs: number): () => void {
  const timer = setTimeout(run, delayMs).unref();
  return () => clearTimeout(timer);
}
