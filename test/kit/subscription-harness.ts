import { jest } from '@jest/globals';
import { Registry as Numbers } from 'prom-client';
import type { Connect } from '../../src/backends/backend.js';
import { Backends } from '../../src/backends/backends.service.js';
import { DesiredServers } from '../../src/backends/desired-servers.js';
import { decideServer } from '../../src/state/decisions.js';
import { Limits } from '../../src/config/limits.js';
import { Naming } from '../../src/config/naming.js';
import type { Subscription } from '../../src/core/subscriptions/subscription-target.js';
import { Tracing } from '../../src/mcp/tracing.js';
import { Metrics } from '../../src/metrics/metrics.js';
import { Registry } from '../../src/registry/registry.service.js';
import { ListWatch } from '../../src/subscriptions/list-watch.js';
import { Subscribers } from '../../src/subscriptions/subscribers.js';
import { Subscriptions } from '../../src/subscriptions/subscriptions.service.js';
import { Updates } from '../../src/subscriptions/updates.js';
import { Upstreams } from '../../src/subscriptions/upstreams.js';
import { onCleanup } from './cleanup.js';
import { configOf, liveConfig } from './config.js';
import { settled } from './fake-link.js';
import type { FakeServer } from './fake-server.js';
import { FakeSubscriber } from './fake-subscriber.js';
import { MemoryState } from './memory-state.js';
import { Scrape } from './scrape.js';

/** The servers of the gateway, but for what is at the other end of their links. */
class BackendsOfTheSpec extends Backends {
  servers: Readonly<Record<string, FakeServer>> = {};

  protected override connectTo(id: string): Connect {
    return () => this.servers[id]!.connect();
  }
}

/** So long the gateway waits, when the last subscriber has left, before it tells the server. */
export const LINGER_MS = 500;

export interface RoomOptions {
  readonly limits?: Partial<Limits>;
  readonly naming?: Partial<Naming>;
  /** By server: what its entry in the configuration says. */
  readonly entries?: Readonly<Record<string, object>>;
  /** What happens before any server is there. */
  readonly before?: (room: SubscriptionRoom) => void;
}

/**
 * For the specs of this room: all of it, and the rooms below it, as they are; the servers and the clients are the
 * spec's, and so is the time.
 */
export class SubscriptionRoom {
  readonly metrics = new Metrics(new Numbers());
  readonly registry: Registry;
  readonly state = new MemoryState();
  readonly desired: DesiredServers;
  readonly backends: BackendsOfTheSpec;
  readonly subscribers: Subscribers;
  readonly updates: Updates;
  readonly upstreams: Upstreams;
  readonly subscriptions: Subscriptions;
  private readonly live;
  /** What the file says of the servers. */
  private said: Readonly<Record<string, object>>;

  constructor(
    readonly servers: Readonly<Record<string, FakeServer>>,
    options: RoomOptions = {},
  ) {
    this.said = options.entries ?? {};
    const naming = Object.assign(new Naming(), options.naming);
    const limits = Object.assign(new Limits(), options.limits);
    this.live = liveConfig({ mcpServers: this.entries() });
    this.registry = new Registry(naming);
    this.desired = new DesiredServers(this.live, this.state);
    this.backends = new BackendsOfTheSpec(this.desired, naming, limits, this.registry, Tracing.OFF);
    this.backends.servers = servers;
    this.subscribers = new Subscribers(limits);
    const { subscribers, registry, backends, metrics, desired } = this;
    this.updates = new Updates(subscribers, registry, backends, metrics);
    this.upstreams = new Upstreams(subscribers, this.updates, registry, backends, metrics);
    const { updates, upstreams } = this;
    this.subscriptions = new Subscriptions(subscribers, upstreams, updates, registry, desired, metrics);
    const listWatch = new ListWatch(registry, backends, subscribers, upstreams);
    // In the order of the module.
    for (const part of [this.subscriptions, updates, upstreams, listWatch]) part.onModuleInit();
    onCleanup(() => this.close());
  }

  /** All servers are there, and have been asked what they have. */
  static async open(
    servers: Readonly<Record<string, FakeServer>>,
    options: RoomOptions = {},
  ): Promise<SubscriptionRoom> {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    onCleanup(() => jest.useRealTimers());
    const room = new SubscriptionRoom(servers, options);
    options.before?.(room);
    room.backends.onApplicationBootstrap();
    await room.pass(0);
    return room;
  }

  /** A subscription of an earlier life. */
  restore(client: FakeSubscriber, server: string, uri: string): void {
    this.subscriptions.restore(client, { id: `${server} ${uri}`, server, uri, since: 0 });
  }

  /** Who wants what, in the order in which it was asked for. */
  get rows(): string[] {
    return [...this.subscribers.table].map(({ subscriber, uri }) => `${subscriber} ${uri}`);
  }

  async close(): Promise<void> {
    this.upstreams.onApplicationShutdown();
    await this.backends.onApplicationShutdown();
  }

  /** Time goes by, and whatever can go on goes on. */
  async pass(ms: number): Promise<void> {
    for (let turn = 0; turn < 6; turn++) await settled();
    jest.advanceTimersByTime(ms);
    for (let turn = 0; turn < 6; turn++) await settled();
  }

  /** Subscribes, and waits until what came with the acknowledgement has come. */
  async subscribe(client: FakeSubscriber, uri: string): Promise<Subscription> {
    const subscription = await this.subscriptions.subscribe(client.context, uri);
    await this.acknowledged();
    return subscription;
  }

  /** The answer is written at the end of the turn, and what waited for it follows in the next. */
  async acknowledged(): Promise<void> {
    for (let turn = 0; turn < 2; turn++) await settled();
  }

  unsubscribe(client: FakeSubscriber, text: string): void {
    this.subscriptions.unsubscribe(client.context, text);
  }

  /** A server lists other resources from now on. */
  async list(server: FakeServer, ...resources: string[]): Promise<void> {
    server.resources = resources;
    server.listChanged();
    await this.pass(1500);
  }

  /** The link of a server breaks, and is there again after a while. */
  async reconnect(server: FakeServer): Promise<void> {
    server.link.lose();
    await this.pass(1000);
  }

  /** As an administrator does it. */
  async enable(id: string, enabled: boolean): Promise<void> {
    this.state.decide((decisions) => decideServer(decisions, id, (before) => ({ ...before, enabled })));
    await this.pass(0);
  }

  /** The file says something else of the servers. */
  async reload(entries: Readonly<Record<string, object>>): Promise<void> {
    this.said = { ...this.said, ...entries };
    this.live.replace(configOf({ mcpServers: this.entries() }));
    await this.pass(0);
  }

  async scrape(): Promise<Scrape> {
    return new Scrape(await this.metrics.text());
  }

  /** How many subscriptions the servers hold, as the metrics have it. */
  async upstream(): Promise<number | undefined> {
    return (await this.scrape()).value('gatehouse_upstream_subscriptions');
  }

  private entries(): Record<string, object> {
    const entry = (id: string): object => ({ command: 'node', timeoutMs: 1000, ...this.said[id] });
    return Object.fromEntries(Object.keys(this.servers).map((id) => [id, entry(id)]));
  }
}
