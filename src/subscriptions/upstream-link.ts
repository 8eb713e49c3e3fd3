import { Logger } from '@nestjs/common';
import type { Backend } from '../backends/backend.js';
import { toCallError } from '../backends/link/link-errors.js';
import type { Link } from '../backends/link/link.js';
import { usesSubscriptions, updateSourceOf, type UpdateSource } from '../backends/link/update-source.js';
import type { SubscribeMode } from '../config/common-server-config.js';
import { ERROR_CODES, RemoteError } from '../core/errors.js';
import type { Upstream } from '../core/subscriptions/upstream.js';
import type { UpstreamReconciler } from '../core/subscriptions/upstream-reconciler.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import { PollingUpstream } from './polling-upstream.js';
import type { WatchedUris } from './wanted-resources.js';

/** One live link to a server, with the reconciler of its upstream subscriptions. */
export interface UpstreamLink {
  readonly link: Link;
  /** Id of the owner of the link; undefined for the link that all clients share. */
  readonly owner: string | undefined;
  readonly mode: SubscribeMode;
  readonly pollMs: number | undefined;
  readonly reconciler: UpstreamReconciler;
}

/** The URIs that an open link has subscribed, or is about to subscribe. */
export const watchedOn = (link: UpstreamLink | undefined): WatchedUris => ({
  areHeld: true,
  get uris() {
    return link?.reconciler.uris ?? [];
  },
});

export const sourceOfUpdates = ({ link, mode, pollMs }: UpstreamLink): UpdateSource =>
  updateSourceOf(link, mode, pollMs);

/**
 * Creates the upstream that subscribes, polls or does neither, depending on the server and its configuration. `onChange`
 * is called with the URI of a resource when a poll finds that its content has changed.
 */
export function createUpstream(backend: Backend, link: Link, onChange: (uri: string) => void): Upstream {
  const { subscribe, watch } = backend.config;
  const { pollMs } = watch;
  const read = (uri: string): Promise<JsonText> =>
    backend.gatewayRequest(link, 'resources/read', JSON.stringify({ uri }));
  const polling = pollMs === undefined ? undefined : new PollingUpstream(read, onChange, pollMs);
  if (usesSubscriptions(link, subscribe)) return new SubscribingUpstream(backend, link, polling);
  return polling ?? new LocalUpstream(backend.id, link);
}

/**
 * For a server that takes no subscriptions and is not polled. No request is sent. The server may still send updates.
 */
class LocalUpstream implements Upstream {
  private readonly warning = new NoUpdatesWarning();

  constructor(
    private readonly server: string,
    private readonly link: Link,
  ) {}

  subscribe(): Promise<void> {
    void this.link.notificationsReady.then(() => this.warning.log(this.server, this.link));
    return Promise.resolve();
  }

  unsubscribe(): Promise<void> {
    return Promise.resolve();
  }
}

/**
 * Logs once per link that subscribers get no updates. The clients cannot be told, because the result of
 * `resources/subscribe` is empty.
 */
class NoUpdatesWarning {
  private readonly logger = new Logger('Subscriptions');
  private isLogged = false;

  log(server: string, { notificationStream }: Link): void {
    if (this.isLogged) return;
    this.isLogged = true;
    const cannotNotify = notificationStream === 'none';
    this.logger.warn({
      message: cannotNotify
        ? 'no updates of subscribed resources can come: the server has no notification stream'
        : 'no updates of subscribed resources can come unless the server sends them unasked: it takes no subscriptions',
      server,
      set: cannotNotify
        ? 'watch.pollMs'
        : 'subscribe: try, if the server has a handler; otherwise watch.pollMs',
    });
  }
}

/** Subscribes at the server. Polls if the server turns out not to have the method, or cannot send notifications. */
class SubscribingUpstream implements Upstream {
  private readonly warning = new NoUpdatesWarning();

  constructor(
    private readonly backend: Backend,
    private readonly link: Link,
    private readonly polling: PollingUpstream | undefined,
  ) {}

  async subscribe(uri: string): Promise<void> {
    const { link, polling } = this;
    // An update that the server sends before the notification stream is open would be lost.
    await link.notificationsReady;
    await this.request('resources/subscribe', uri).catch((error: unknown) => {
      if (!isUnknownMethod(error)) throw error;
      link.refusesSubscriptions = true;
    });
    if (this.usesSubscriptions && link.notificationStream !== 'none') return;
    if (polling) await polling.subscribe(uri);
    else this.warning.log(this.backend.id, link);
  }

  async unsubscribe(uri: string): Promise<void> {
    await this.polling?.unsubscribe(uri);
    await this.request('resources/unsubscribe', uri);
  }

  stop(): void {
    this.polling?.stop();
  }

  private get usesSubscriptions(): boolean {
    return usesSubscriptions(this.link, this.backend.config.subscribe);
  }

  private async request(method: string, uri: string): Promise<void> {
    const { backend, link } = this;
    if (!this.usesSubscriptions) return;
    const sent = link.listens
      ? listenRequest(link.listens, method, uri)
      : backend.gatewayRequest(link, method, JSON.stringify({ uri }));
    await sent.catch((error: unknown) => {
      throw toCallError(backend.id, error);
    });
  }
}

/** Subscribes or unsubscribes in the 2026 era: adds the URI to a listen stream of the link, or removes it. */
async function listenRequest(
  listens: NonNullable<Link['listens']>,
  method: string,
  uri: string,
): Promise<void> {
  if (method === 'resources/subscribe') await listens.subscribe(uri);
  else listens.unsubscribe(uri);
}

const isUnknownMethod = (error: unknown): boolean =>
  error instanceof RemoteError && error.code === ERROR_CODES['method-not-found'].code;

/** The live links, by server and by id of their owner, which is undefined for the link that all clients share. */
export class UpstreamLinks {
  private readonly byServer = new Map<string, Map<string | undefined, UpstreamLink>>();

  /** `onDelete` is called before the reconciler of a link is closed. */
  constructor(private readonly onDelete: (server: string, link: UpstreamLink) => void = () => {}) {}

  /** Number of upstream subscriptions on all links, including polled resources. */
  get subscriptionCount(): number {
    let count = 0;
    for (const links of this.byServer.values())
      for (const { link, mode, pollMs, reconciler } of links.values())
        if (usesSubscriptions(link, mode) || pollMs !== undefined) count += reconciler.size;
    return count;
  }

  of(server: string): readonly UpstreamLink[] {
    return [...(this.byServer.get(server)?.values() ?? [])];
  }

  find(server: string, owner?: string): UpstreamLink | undefined {
    return this.byServer.get(server)?.get(owner);
  }

  /** Adds a link. Deletes the previous link of the same owner. */
  set(server: string, link: UpstreamLink): void {
    this.delete(server, link.owner);
    const links = this.byServer.get(server) ?? new Map<string | undefined, UpstreamLink>();
    this.byServer.set(server, links.set(link.owner, link));
  }

  /** Removes a link and closes its reconciler. */
  delete(server: string, owner?: string): void {
    const links = this.byServer.get(server);
    const link = links?.get(owner);
    links?.delete(owner);
    if (links?.size === 0) this.byServer.delete(server);
    if (link) this.onDelete(server, link);
    link?.reconciler.close('the connection was lost');
  }

  deleteAll(server: string): void {
    for (const owner of this.byServer.get(server)?.keys() ?? []) this.delete(server, owner);
  }

  clear(): void {
    for (const server of this.byServer.keys()) this.deleteAll(server);
  }
}
