import { jest } from '@jest/globals';
import { Registry as MetricsRegistry } from 'prom-client';
import type { LinkFactory } from '../../src/backends/link/link-factory.js';
import { BackendEnvironment } from '../../src/backends/backend-environment.js';
import { Backends } from '../../src/backends/backends.service.js';
import { DesiredServers } from '../../src/backends/desired-servers.js';
import type { LinkFactories } from '../../src/backends/link-factories.js';
import { decideServer } from '../../src/state/decisions.js';
import { MemoryQuotas } from '../../src/state/memory-quotas.js';
import { Limits } from '../../src/config/limits.js';
import { Naming } from '../../src/config/naming.js';
import { StartupSettings } from '../../src/config/startup-settings.js';
import type { Subscription } from '../../src/core/subscriptions/subscription-target.js';
import { FanOut } from '../../src/mcp/fan-out.js';
import { Tracing } from '../../src/mcp/tracing.js';
import { Metrics } from '../../src/metrics/metrics.js';
import { Registry } from '../../src/registry/registry.service.js';
import { ListenSubscriptions } from '../../src/subscriptions/listen-subscriptions.js';
import { ListingWatcher } from '../../src/subscriptions/listing-watcher.js';
import { ServerRemovals } from '../../src/subscriptions/server-removals.js';
import { Subscribers } from '../../src/subscriptions/subscribers.js';
import { SubscriptionAddresses } from '../../src/subscriptions/subscription-addresses.js';
import { SubscriptionLog } from '../../src/subscriptions/subscription-log.js';
import { SubscriptionRestorer } from '../../src/subscriptions/subscription-restorer.js';
import { Subscriptions } from '../../src/subscriptions/subscriptions.service.js';
import { MissedUpdates } from '../../src/subscriptions/missed-updates.js';
import { ResourceUpdates } from '../../src/subscriptions/resource-updates.js';
import { UpstreamSubscriptions } from '../../src/subscriptions/upstream-subscriptions.js';
import { onCleanup } from './cleanup.js';
import { configOf, liveConfig } from './config.js';
import { FakeSubscriber } from './fake-client.js';
import { flushPromises } from './promises.js';
import type { FakeServer } from './fake-server.js';
import { MemoryDecisionStore } from './memory-decision-store.js';
import { Scrape } from './scrape.js';

/** Opens links to fake servers. */
const fakeLinkFactories = (servers: Readonly<Record<string, FakeServer>>): LinkFactories => {
  const create =
    (id: string): LinkFactory =>
    () =>
      servers[id]!.connect();
  return { create } as Pick<LinkFactories, 'create'> as LinkFactories;
};

/** Iterations of the event loop in which sliced jobs and promise callbacks end. A slice runs in every fourth iteration. */
const ITERATIONS = 24;
/** Delay between the end of the last subscription and the upstream unsubscribe. */
export const LINGER_MS = 500;

export interface HarnessOptions {
  readonly limits?: Partial<Limits>;
  readonly naming?: Partial<Naming>;
  /** For each server, what differs in its configuration entry from the defaults of this harness. */
  readonly entries?: Readonly<Record<string, object>>;
  /** Runs before any server is connected. */
  readonly before?: (harness: SubscriptionHarness) => void;
}

/** The subscriptions module and the modules below it as they are, with fake servers, clients and time. */
export class SubscriptionHarness {
  readonly metrics = new Metrics(new MetricsRegistry());
  readonly registry: Registry;
  readonly state = new MemoryDecisionStore();
  readonly desired: DesiredServers;
  readonly backends: Backends;
  readonly subscribers: Subscribers;
  readonly updates: ResourceUpdates;
  readonly upstreams: UpstreamSubscriptions;
  readonly addresses: SubscriptionAddresses;
  readonly subscriptions: Subscriptions;
  readonly listens: ListenSubscriptions;
  readonly restorer: SubscriptionRestorer;
  private readonly live;
  /** For each server, what differs in its configuration entry from the defaults of this harness. */
  private configured: Readonly<Record<string, object>>;

  constructor(
    readonly servers: Readonly<Record<string, FakeServer>>,
    options: HarnessOptions = {},
  ) {
    this.configured = options.entries ?? {};
    const naming = Object.assign(new Naming(), options.naming);
    const limits = Object.assign(new Limits(), options.limits);
    this.live = liveConfig({ mcpServers: this.entries() });
    this.registry = new Registry(naming);
    this.desired = new DesiredServers(this.live, this.state);
    this.backends = new Backends(
      this.desired,
      naming,
      this.registry,
      this.metrics,
      fakeLinkFactories(servers),
      new BackendEnvironment(
        Tracing.OFF,
        limits,
        new MemoryQuotas(),
        new StartupSettings(),
        this.metrics,
        this.live,
      ),
    );
    this.subscribers = new Subscribers(limits);
    const { subscribers, registry, backends, metrics, desired } = this;
    this.updates = new ResourceUpdates(subscribers, registry, backends, new FanOut(), metrics);
    this.upstreams = new UpstreamSubscriptions(subscribers, this.updates, registry, backends, metrics);
    const { updates, upstreams } = this;
    this.addresses = new SubscriptionAddresses(subscribers, registry, backends);
    const { addresses } = this;
    const log = new SubscriptionLog(subscribers, metrics);
    this.subscriptions = new Subscriptions(subscribers, addresses, upstreams, updates, log, metrics);
    this.listens = new ListenSubscriptions(subscribers, addresses, upstreams, updates, log);
    this.restorer = new SubscriptionRestorer(desired, subscribers, addresses, upstreams, updates);
    const removals = new ServerRemovals(desired, subscribers, this.subscriptions);
    const listWatch = new ListingWatcher(registry, backends, desired, subscribers, upstreams);
    // In the order of the module's providers.
    const missed = new MissedUpdates(subscribers, upstreams, updates, backends);
    for (const part of [this.subscriptions, removals, updates, upstreams, listWatch, missed])
      part.onModuleInit();
    onCleanup(() => this.close());
  }

  /** Opens a harness and waits until all servers are connected and synced. */
  static async open(
    servers: Readonly<Record<string, FakeServer>>,
    options: HarnessOptions = {},
  ): Promise<SubscriptionHarness> {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    onCleanup(() => jest.useRealTimers());
    const harness = new SubscriptionHarness(servers, options);
    options.before?.(harness);
    harness.backends.onApplicationBootstrap();
    harness.backends.startServers();
    await harness.pass(0);
    return harness;
  }

  /** Adds a subscription that a previous process had. */
  restore(client: FakeSubscriber, server: string, uri: string): void {
    this.restorer.restore(client, { id: `${server} ${uri}`, server, uri, since: 0 });
  }

  /** `subscriber uri` of each row, oldest first. */
  get rows(): string[] {
    return [...this.subscribers.table].map(({ subscriber, uri }) => `${subscriber} ${uri}`);
  }

  async close(): Promise<void> {
    this.upstreams.onApplicationShutdown();
    await this.backends.onApplicationShutdown();
  }

  /** Advances the clock, and runs due timers and promise callbacks. */
  async pass(ms: number): Promise<void> {
    for (let iteration = 0; iteration < ITERATIONS; iteration++) await flushPromises();
    jest.advanceTimersByTime(ms);
    for (let iteration = 0; iteration < ITERATIONS; iteration++) await flushPromises();
  }

  /** Subscribes, and waits until updates held for the acknowledgement are delivered. */
  async subscribe(client: FakeSubscriber, uri: string): Promise<Subscription> {
    const subscription = await this.subscriptions.subscribe(client.context, uri);
    await this.acknowledged();
    return subscription;
  }

  /**
   * Waits until held updates are delivered: the response is written at the end of one iteration of the event loop, and the
   * updates follow in the next.
   */
  async acknowledged(): Promise<void> {
    for (let iteration = 0; iteration < 2; iteration++) await flushPromises();
  }

  unsubscribe(client: FakeSubscriber, text: string): void {
    this.subscriptions.unsubscribe(client.context, text);
  }

  /** Changes the resources that a server lists, and sends a list change. */
  async list(server: FakeServer, ...resources: string[]): Promise<void> {
    server.resources = resources;
    server.listChanged();
    await this.pass(1500);
  }

  /** Breaks the link of a server and waits for the next one. */
  async reconnect(server: FakeServer): Promise<void> {
    server.link.disconnect();
    await this.pass(1000);
  }

  /** Enables or disables a server as an administrator does. */
  async enable(id: string, enabled: boolean): Promise<void> {
    this.state.decide((decisions) => decideServer(decisions, id, (before) => ({ ...before, enabled })));
    await this.pass(0);
  }

  /** Removes a server as an administrator does, or undoes the removal. */
  async remove(id: string, removed = true): Promise<void> {
    this.state.decide((decisions) => decideServer(decisions, id, () => (removed ? { removed } : {})));
    await this.pass(0);
  }

  /** Reloads the configuration file with other server entries. */
  async reload(entries: Readonly<Record<string, object>>): Promise<void> {
    this.configured = { ...this.configured, ...entries };
    this.live.replace(configOf({ mcpServers: this.entries() }));
    await this.pass(0);
  }

  async scrape(): Promise<Scrape> {
    return new Scrape(await this.metrics.text());
  }

  /** The gauge of upstream subscriptions. */
  async upstream(): Promise<number | undefined> {
    return (await this.scrape()).value('gatehouse_upstream_subscriptions');
  }

  private entries(): Record<string, object> {
    const entry = (id: string): object => ({ command: 'node', timeoutMs: 1000, ...this.configured[id] });
    return Object.fromEntries(Object.keys(this.servers).map((id) => [id, entry(id)]));
  }
}
