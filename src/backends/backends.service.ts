import { isDeepStrictEqual } from 'node:util';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Naming } from '../config/naming.js';
import type { ServerConfig } from '../config/servers-config.js';
import type { ListKind } from '../core/catalog/catalog.js';
import { serverUnavailable } from '../core/errors.js';
import { endsWithDigest, nameWithDigest, prefixedName } from '../core/naming/naming.js';
import { ListenerSet, type Listener } from '../lib/listeners/listener-set.js';
import type { LinkOwner } from '../mcp/mcp-context.js';
import { Metrics } from '../metrics/metrics.js';
import { Registry } from '../registry/registry.service.js';
import { BackendEnvironment } from './backend-environment.js';
import type { BackendEvents } from './backend-events.js';
import { Backend } from './backend.js';
import { DesiredServers, type DesiredServer } from './desired-servers.js';
import { LinkFactories } from './link-factories.js';
import type { Link, ServerNotification } from './link/link.js';
import { SessionListings } from './session-listings.js';

type NotificationEvent = [server: string, notification: ServerNotification, owner?: LinkOwner];
type BackendEvent = [backend: Backend];
type LinkEvent = [backend: Backend, link: Link | undefined];
type SessionLinkEvent = [backend: Backend, link: Link, owner: LinkOwner];

/** The backends of all enabled servers, reconciled with the desired servers at the start and at every change. */
@Injectable()
export class Backends implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly backends = new Map<string, Backend>();
  /** For each backend that is retiring: a promise that settles when its calls in flight have ended and it has stopped. */
  private readonly retiring = new Set<Promise<void>>();
  private readonly notificationListeners = new ListenerSet<NotificationEvent>();
  private readonly stateListeners = new ListenerSet<BackendEvent>();
  private readonly linkListeners = new ListenerSet<LinkEvent>();
  private readonly sessionLinkListeners = new ListenerSet<SessionLinkEvent>();
  private readonly syncListeners = new ListenerSet<BackendEvent>();
  private readonly reconfigureListeners = new ListenerSet<BackendEvent>();
  private readonly retireListeners = new ListenerSet<BackendEvent>();
  private logLevel: string | undefined;
  readonly sessionListings: SessionListings;

  constructor(
    private readonly desired: DesiredServers,
    private readonly naming: Naming,
    private readonly registry: Registry,
    private readonly metrics: Metrics,
    private readonly linkFactories: LinkFactories,
    private readonly environment: BackendEnvironment,
  ) {
    this.sessionListings = new SessionListings(registry, () => metrics.countMemoryLimit('session-listings'));
  }

  /** Starts all backends without waiting for their links, which are opened after `startServers`. */
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

  /** Throws when the server is not enabled. */
  get(id: string): Backend {
    const backend = this.backends.get(id);
    if (!backend) throw serverUnavailable(id, 'it is not enabled', { reason: 'disabled' });
    return backend;
  }

  /**
   * To be called for a request with an unknown name. Throws when one of these servers is enabled, but is not available or has
   * not sent its list of this kind: the server may have the tool, prompt or resource. A tool that is switched off stays unknown.
   */
  requireListed(servers: Iterable<string>, kind: ListKind, name: string): void {
    for (const id of servers) {
      if (kind === 'tools' && this.isSwitchedOff(id, name)) continue;
      const error = this.backends.get(id)?.refuseIfUnlisted(kind);
      if (error) throw error;
    }
  }

  /** To be called when the gateway listens. No server starts before. */
  startServers(): void {
    this.environment.slots.open();
  }

  /** Number of servers that wait until others have started. */
  get waitingToStart(): number {
    return this.environment.slots.waiting;
  }

  /** Resolves when the catalog contains all listings that were fetched so far. */
  whenListed(): Promise<void> {
    return this.registry.whenBuilt();
  }

  /** Sends a notification over the links that belong to this owner. */
  notifySessionLinks(owner: LinkOwner, method: string): void {
    for (const backend of this.backends.values()) backend.isolatedLinks?.notify(owner, method);
  }

  /** Sets the log level of all servers, including those that are enabled later. */
  setLogLevel(level: string): void {
    this.logLevel = level;
    for (const backend of this.backends.values()) backend.setLogLevel(level);
  }

  /** Called for notifications that belong to no call. `owner` is set when the link is not shared. */
  onNotification(listener: Listener<NotificationEvent>): () => void {
    return this.notificationListeners.add(listener);
  }

  onStateChange(listener: Listener<BackendEvent>): () => void {
    return this.stateListeners.add(listener);
  }

  /** Called when the shared link of a server is opened or lost, and when its backend is retired (`onRetired`). */
  onLink(listener: Listener<LinkEvent>): () => void {
    return this.linkListeners.add(listener);
  }

  /** Called when a link of one owner is opened. */
  onSessionLink(listener: Listener<SessionLinkEvent>): () => void {
    return this.sessionLinkListeners.add(listener);
  }

  /** Called when the registry has a listing after a sync or a reconfiguration, whether the listing has changed or not. */
  onSynced(listener: Listener<BackendEvent>): () => void {
    return this.syncListeners.add(listener);
  }

  /**
   * Called when a server is disabled or removed, or when another backend takes its place because of other connection settings.
   * The calls in flight of the backend continue.
   */
  onRetired(listener: Listener<BackendEvent>): () => void {
    return this.retireListeners.add(listener);
  }

  /** Called when the settings of a backend may have changed while its link stayed open. */
  onReconfigured(listener: Listener<BackendEvent>): () => void {
    return this.reconfigureListeners.add(listener);
  }

  /** Starts, reconfigures and retires backends. If the connection settings of a server have not changed, its link stays open. */
  private reconcile(servers: ReadonlyMap<string, DesiredServer>): void {
    this.registry.setServers(servers.keys());
    for (const [id, backend] of this.backends) {
      const server = servers.get(id);
      if (!server?.enabled || !hasSameConnection(server.config, backend.config)) this.retire(backend);
    }
    for (const server of servers.values()) {
      if (!server.enabled) continue;
      const backend = this.backends.get(server.id);
      if (backend) this.reconfigure(backend, server);
      else this.launch(server);
    }
  }

  private launch(server: DesiredServer): void {
    const { id, config } = server;
    const events: BackendEvents = {
      listed: () => this.publish(backend),
      linkChanged: (link) => this.linkChanged(backend, link),
      sessionLinkOpened: (link, owner) => {
        if (this.isCurrent(backend)) this.sessionLinkListeners.emit(backend, link, owner);
      },
      notified: (notification, owner) => {
        if (this.isCurrent(backend)) this.notificationListeners.emit(id, notification, owner);
      },
      stateChanged: () => this.stateListeners.emit(backend),
      sessionListed: (owner, listing) => this.sessionListings.listed(backend, owner, listing),
      sessionListOverLimit: () => this.metrics.countMemoryLimit('session-listings'),
    };
    const connect = this.linkFactories.create(id, config, () => backend.config.concurrency);
    const backend: Backend = new Backend(id, config, connect, events, this.environment);
    if (this.logLevel !== undefined) backend.setLogLevel(this.logLevel);
    this.backends.set(id, backend);
    this.sessionListings.add(backend);
    backend.start();
  }

  private reconfigure(backend: Backend, { config }: DesiredServer): void {
    backend.reconfigure(config);
    void this.publish(backend);
    this.reconfigureListeners.emit(backend);
  }

  private retire(backend: Backend): void {
    this.linkChanged(backend, undefined);
    this.backends.delete(backend.id);
    this.sessionListings.remove(backend);
    this.registry.remove(backend.id);
    this.retireListeners.emit(backend);
    const retiring = backend.retire().finally(() => this.retiring.delete(retiring));
    this.retiring.add(retiring);
  }

  /** Ignores the links of a retired backend: the backend that took its place may have opened a link already. */
  private linkChanged(backend: Backend, link: Link | undefined): void {
    if (this.isCurrent(backend)) this.linkListeners.emit(backend, link);
  }

  /** Whether `name`, which begins with the id of this server, is the public name of a disabled tool. */
  private isSwitchedOff(id: string, name: string): boolean {
    const disabled = this.desired.current.get(id)?.disabledTools;
    if (!disabled) return false;
    const { separator } = this.naming;
    if (disabled.has(name.slice(id.length + separator.length))) return true;
    if (!endsWithDigest(name)) return false;
    return [...disabled].some(
      (ownName) => nameWithDigest(prefixedName(id, separator, ownName), id, ownName) === name,
    );
  }

  private isCurrent(backend: Backend): boolean {
    return this.backends.get(backend.id) === backend;
  }

  /** Puts the last listing and the current decisions into the registry. */
  private async publish(backend: Backend): Promise<void> {
    const { id, listing } = backend;
    const server = this.desired.current.get(id);
    if (!listing || !server) return;
    const { rank, config, disabledTools } = server;
    const style = config.naming?.tools ?? this.naming.tools;
    await this.registry.put({ id, rank, listing, disabledTools, style });
    if (backend.hasSessionLinks) await this.sessionListings.sharedListingChanged(backend);
    if (this.isCurrent(backend)) this.syncListeners.emit(backend);
  }
}

/** Settings that can change while the link stays open. */
const RECONFIGURABLE: ReadonlySet<string> = new Set<keyof ServerConfig>([
  'enabled',
  'concurrency',
  'queue',
  'timeoutMs',
  'refreshMs',
  'tools',
  'naming',
  'watch',
]);

const hasSameConnection = (a: ServerConfig, b: ServerConfig): boolean =>
  isDeepStrictEqual(connectionSettings(a), connectionSettings(b));

const connectionSettings = (config: ServerConfig): unknown =>
  Object.fromEntries(Object.entries(config).filter(([key]) => !RECONFIGURABLE.has(key)));
