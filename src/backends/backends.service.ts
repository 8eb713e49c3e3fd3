import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { Limits } from '../config/limits.js';
import { Naming } from '../config/naming.js';
import type { ServerConfig } from '../config/servers-config.js';
import { serverUnavailable } from '../core/errors.js';
import type { ClientSession } from '../mcp/mcp-context.js';
import { Tracing } from '../mcp/tracing.js';
import { withPublicMessages } from '../core/resources/public-uris.js';
import { Registry } from '../registry/registry.service.js';
import { Backend, type BackendEvents } from './backend.js';
import type { LinkFactory } from './link/link-factory.js';
import { createLinkFactory } from './link/link-factory.js';
import { DesiredServers, type DesiredServer } from './desired-servers.js';
import type { Link, ServerNotification } from './link/link.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';

type NotificationListener = (server: string, notification: ServerNotification, owner?: ClientSession) => void;
type StateListener = (backend: Backend) => void;
type LinkListener = (backend: Backend, link: Link | undefined) => void;
type OwnLinkListener = (backend: Backend, link: Link, owner: ClientSession) => void;

/** Every server that is enabled. Made to fit what is desired, at the start and at every change, by the same code. */
@Injectable()
export class Backends implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly backends = new Map<string, Backend>();
  /** Disabled, but still finishing what they had begun. */
  private readonly retiring = new Set<Promise<void>>();
  private readonly notificationListeners = new ListenerSet<Parameters<NotificationListener>>();
  private readonly stateListeners = new ListenerSet<Parameters<StateListener>>();
  private readonly linkListeners = new ListenerSet<Parameters<LinkListener>>();
  private readonly listedListeners = new ListenerSet<Parameters<StateListener>>();
  private readonly adjustListeners = new ListenerSet<Parameters<StateListener>>();
  private readonly ownLinkListeners = new ListenerSet<Parameters<OwnLinkListener>>();
  private logLevel: string | undefined;

  constructor(
    private readonly desired: DesiredServers,
    private readonly naming: Naming,
    private readonly limits: Limits,
    private readonly registry: Registry,
    private readonly tracing: Tracing,
  ) {}

  /** Starts them all at once and waits for none. */
  onApplicationBootstrap(): void {
    this.reconcile(this.desired.current);
    this.desired.onChange((servers) => this.reconcile(servers));
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.retiring, ...[...this.backends.values()].map((backend) => backend.stop())]);
  }

  all(): Iterable<Backend> {
    return this.backends.values();
  }

  find(id: string): Backend | undefined {
    return this.backends.get(id);
  }

  get(id: string): Backend {
    const backend = this.backends.get(id);
    if (!backend) throw serverUnavailable(id, 'it is not enabled');
    return backend;
  }

  /** Tells the servers that keep a link for this client alone. */
  notifySessionLinks(client: ClientSession, method: string): void {
    for (const backend of this.backends.values()) backend.notifySessionLink(client, method);
  }

  /** What servers are to log, those of now and those to come. */
  setLogLevel(level: string): void {
    this.logLevel = level;
    for (const backend of this.backends.values()) backend.setLogLevel(level);
  }

  /** What servers say that belongs to no call; `owner` is the client that has the link to itself. */
  onNotification(listener: NotificationListener): () => void {
    return this.notificationListeners.add(listener);
  }

  onStateChange(listener: StateListener): () => void {
    return this.stateListeners.add(listener);
  }

  /** Told of every link that all clients share, and of its end. */
  onLink(listener: LinkListener): () => void {
    return this.linkListeners.add(listener);
  }

  /** Told of every link that one client has to itself. */
  onSessionLink(listener: OwnLinkListener): () => void {
    return this.ownLinkListeners.add(listener);
  }

  /** Told after every sync, whether or not anything changed by it. */
  onSynced(listener: StateListener): () => void {
    return this.listedListeners.add(listener);
  }

  /** Told of every server that may have other settings now, with the link it had. */
  onReconfigured(listener: StateListener): () => void {
    return this.adjustListeners.add(listener);
  }

  /** Only what changed is touched: a server whose connection is as it was keeps its process and its session. */
  private reconcile(servers: ReadonlyMap<string, DesiredServer>): void {
    for (const [id, backend] of this.backends) {
      const server = servers.get(id);
      if (!server?.enabled || !sameConnection(server.config, backend.config)) this.retire(backend);
    }
    for (const server of servers.values()) {
      if (!server.enabled) continue;
      const backend = this.backends.get(server.id);
      if (backend) this.adjust(backend, server);
      else this.launch(server);
    }
  }

  private launch(server: DesiredServer): void {
    const { id, config } = server;
    const events: BackendEvents = {
      listed: () => this.list(backend),
      linkChanged: (link) => this.linked(backend, link),
      sessionLinkOpened: (link, owner) => {
        this.ownLinkListeners.emit(backend, link, owner);
      },
      notified: (notification, owner) => {
        this.notificationListeners.emit(id, notification, owner);
      },
      stateChanged: () => {
        this.stateListeners.emit(backend);
      },
    };
    const backend: Backend = new Backend(id, config, this.linkFactory(id, config), events, this.tracing);
    if (this.logLevel !== undefined) backend.setLogLevel(this.logLevel);
    this.backends.set(id, backend);
    backend.start();
  }

  protected linkFactory(id: string, config: ServerConfig): LinkFactory {
    const { links } = this.registry;
    return createLinkFactory(id, config, this.limits, (asked) =>
      withPublicMessages(asked, links.publicUrisFor(id)),
    );
  }

  private adjust(backend: Backend, { config }: DesiredServer): void {
    backend.reconfigure(config);
    this.list(backend);
    this.adjustListeners.emit(backend);
  }

  private retire(backend: Backend): void {
    this.linked(backend, undefined);
    this.backends.delete(backend.id);
    this.registry.remove(backend.id);
    const retiring = backend.retire().finally(() => this.retiring.delete(retiring));
    this.retiring.add(retiring);
  }

  /** One that is being replaced has no say any more: the next one may be linked already. */
  private linked(backend: Backend, link: Link | undefined): void {
    if (this.backends.get(backend.id) !== backend) return;
    this.linkListeners.emit(backend, link);
  }

  /** Offers what the server last listed, under the decisions of now. */
  private list(backend: Backend): void {
    const { id, listing } = backend;
    const server = this.desired.current.get(id);
    if (!listing || !server) return;
    const { rank, config, disabledTools } = server;
    this.registry.put({ id, rank, listing, disabledTools, style: config.naming?.tools ?? this.naming.tools });
    this.listedListeners.emit(backend);
  }
}

/** What can change under a running link. */
const ADJUSTABLE: ReadonlySet<string> = new Set<keyof ServerConfig>([
  'enabled',
  'concurrency',
  'queue',
  'timeoutMs',
  'tools',
  'naming',
  'watch',
]);

/** Whether one link serves both. */
const sameConnection = (a: ServerConfig, b: ServerConfig): boolean =>
  isDeepStrictEqual(connectionOf(a), connectionOf(b));

const connectionOf = (config: ServerConfig): unknown =>
  Object.fromEntries(Object.entries(config).filter(([key]) => !ADJUSTABLE.has(key)));
