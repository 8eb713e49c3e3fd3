import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { asCallError } from '../backends/call-errors.js';
import type { Backend } from '../backends/backend.js';
import { Backends } from '../backends/backends.service.js';
import type { Link } from '../backends/link.js';
import { ResourceList } from '../core/resource-list.js';
import type { Address } from '../core/resource-uri.js';
import { patternOf, type ResourcePattern } from '../core/resource-pattern.js';
import type { Upstream } from '../core/upstream-lane.js';
import { UpstreamSubscriptions } from '../core/upstream-subscriptions.js';
import { Metrics } from '../metrics/metrics.js';
import { Registry } from '../registry/registry.service.js';
import { PollingUpstream } from './polling-upstream.js';
import { Subscribers } from './subscribers.js';
import { Updates } from './updates.js';

/** Clients come and go; a server is not told of each. */
const LINGER_MS = 500;
/** A pattern that fits more than this would have its server told of every one of them. */
const MOST_MATCHES = 1000;

/** Has every server keep the gateway informed of just what clients want to hear of. */
@Injectable()
export class Upstreams implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('Subscriptions');
  private readonly upstreams: UpstreamSubscriptions;

  constructor(
    private readonly subscribers: Subscribers,
    private readonly updates: Updates,
    private readonly registry: Registry,
    private readonly backends: Backends,
    private readonly metrics: Metrics,
  ) {
    this.upstreams = new UpstreamSubscriptions(
      {
        has: (server, uri) => subscribers.table.wants(server, uri),
        of: (server) => this.wantedOf(server),
      },
      {
        restored: (server, uri) => updates.mayHaveChanged(server, uri),
        failed: (server, request, uri, error) =>
          this.logger.warn({ message: `resources/${request} failed`, server, uri, cause: String(error) }),
      },
      { lingerMs: LINGER_MS, schedule: runLater },
    );
  }

  onModuleInit(): void {
    this.metrics.upstreamSubscriptions = () => this.upstreams.size;
    this.backends.onLink((backend, link) => {
      if (link) this.upstreams.connected(backend.id, this.upstreamOver(backend, link));
      else this.upstreams.disconnected(backend.id);
    });
    this.subscribers.onLeave((removed) => {
      for (const { subscription, wasLast } of removed) if (wasLast) this.release(subscription);
    });
  }

  onApplicationShutdown(): void {
    this.upstreams.close();
  }

  /** Resolves when the server has been told. Of a pattern, what can be told is told; something must. */
  async ensure(address: Address): Promise<void> {
    const { server } = address;
    const uris = [...this.concrete(address)];
    const outcomes = await Promise.allSettled(uris.map((uri) => this.upstreams.ensure(server, uri)));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed && outcomes.every(({ status }) => status === 'rejected')) throw failed.reason;
  }

  /** The last who wanted it has left. */
  release(address: Address): void {
    for (const uri of this.concrete(address)) this.upstreams.release(address.server, uri);
  }

  /** Something that is wanted is there, or there again. */
  appeared({ server, uri }: Address): void {
    if (this.upstreams.isTold(server)) this.upstreams.restore(server, [uri]);
    else this.updates.mayHaveChanged(server, uri);
  }

  /** Something that is wanted is not there any more; the server may forget it. */
  vanished({ server, uri }: Address): void {
    this.upstreams.doubt(server, uri);
    this.updates.deleted(server, uri);
  }

  /** Undefined when the server takes no subscriptions, and nobody asked for its resources to be looked at. */
  private upstreamOver(backend: Backend, link: Link): Upstream | undefined {
    const { id, config } = backend;
    const request = async (method: string, uri: string) => {
      try {
        return await link.request({ method, params: JSON.stringify({ uri }), timeoutMs: config.timeoutMs });
      } catch (error) {
        throw asCallError(id, error);
      }
    };
    if (link.facts.capabilities.resources?.subscribe) {
      return {
        subscribe: async (uri) => void (await request('resources/subscribe', uri)),
        unsubscribe: async (uri) => void (await request('resources/unsubscribe', uri)),
      };
    }
    const { pollMs } = config.watch;
    if (pollMs === undefined) return undefined;
    const poller = new PollingUpstream(
      (uri) => request('resources/read', uri),
      (uri) => this.updates.mayHaveChanged(id, uri),
      pollMs,
    );
    void link.closed.then(() => poller.stop());
    return poller;
  }

  private *wantedOf(server: string): Iterable<string> {
    for (const { uri, pattern } of this.subscribers.table.targetsOf(server)) {
      if (pattern) yield* this.matching(server, pattern);
      else yield uri;
    }
  }

  private *concrete({ server, uri }: Address): Iterable<string> {
    const pattern = patternOf(uri);
    if (pattern) yield* this.matching(server, pattern);
    else yield uri;
  }

  private *matching(server: string, pattern: ResourcePattern): Iterable<string> {
    let left = MOST_MATCHES;
    for (const { uri } of this.listOf(server).startingWith(pattern.prefix)) {
      if (!pattern.matches(uri)) continue;
      if (left-- === 0) {
        this.logger.warn({ message: `only ${MOST_MATCHES} resources of a pattern are watched`, server });
        return;
      }
      yield uri;
    }
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
