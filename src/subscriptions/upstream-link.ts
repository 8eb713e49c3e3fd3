import type { Backend } from '../backends/backend.js';
import { toCallError } from '../backends/link/link-errors.js';
import type { Link } from '../backends/link/link.js';
import { takesSubscriptions } from '../backends/link/update-source.js';
import { ERROR_CODES, RemoteError } from '../core/errors.js';
import type { Upstream, UpstreamReconciler } from '../core/subscriptions/upstream-reconciler.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import { PollingUpstream } from './polling-upstream.js';
import type { WatchedUris } from './wanted-resources.js';

/** One live link to a server, with the reconciler of its upstream subscriptions. */
export interface UpstreamLink {
  readonly link: Link;
  /** Id of the session that owns the link; undefined for the link that all clients share. */
  readonly owner: string | undefined;
  readonly pollMs: number | undefined;
  readonly reconciler: UpstreamReconciler;
}

/** What patterns watch on a link. */
export const heldOn = (link: UpstreamLink | undefined): WatchedUris => ({
  areHeld: true,
  get uris() {
    return link?.reconciler.uris ?? [];
  },
});

/** `onChange` is called with the URI of a resource that a poll found changed. */
export function createUpstream(backend: Backend, link: Link, onChange: (uri: string) => void): Upstream {
  const { pollMs } = backend.config.watch;
  const read = (uri: string): Promise<JsonText> =>
    backend.gatewayRequest(link, 'resources/read', JSON.stringify({ uri }));
  const polling = pollMs === undefined ? undefined : new PollingUpstream(read, onChange, pollMs);
  if (takesSubscriptions(link)) return new SubscribingUpstream(backend, link, polling);
  return polling ?? UNSOLICITED;
}

/** For a server that takes no subscriptions: it may send updates nevertheless. */
const UNSOLICITED: Upstream = {
  subscribe: () => Promise.resolve(),
  unsubscribe: () => Promise.resolve(),
};

/** Subscribes at the server. Polls too, if the server turns out not to know subscriptions or cannot send notifications. */
class SubscribingUpstream implements Upstream {
  constructor(
    private readonly backend: Backend,
    private readonly link: Link,
    private readonly polling: PollingUpstream | undefined,
  ) {}

  async subscribe(uri: string): Promise<void> {
    const { link, polling } = this;
    // An update that is sent before the notification stream is open would be lost.
    await link.notificationsReady;
    await this.request('resources/subscribe', uri).catch((error: unknown) => {
      if (!isUnknownMethod(error)) throw error;
      link.refusesSubscriptions = true;
    });
    if (polling && (!takesSubscriptions(link) || link.notificationStream === 'none'))
      await polling.subscribe(uri);
  }

  async unsubscribe(uri: string): Promise<void> {
    await this.polling?.unsubscribe(uri);
    await this.request('resources/unsubscribe', uri);
  }

  stop(): void {
    this.polling?.stop();
  }

  private async request(method: string, uri: string): Promise<void> {
    const { backend, link } = this;
    if (!takesSubscriptions(link)) return;
    await backend.gatewayRequest(link, method, JSON.stringify({ uri })).catch((error: unknown) => {
      throw toCallError(backend.id, error);
    });
  }
}

const isUnknownMethod = (error: unknown): boolean =>
  error instanceof RemoteError && error.code === ERROR_CODES['method-not-found'].code;

/** The live links, by server and owner. */
export class UpstreamLinks {
  private readonly byServer = new Map<string, Map<string | undefined, UpstreamLink>>();

  /** `onDelete` is called before the reconciler of a link is closed. */
  constructor(private readonly onDelete: (server: string, link: UpstreamLink) => void = () => {}) {}

  /** Number of upstream subscriptions on all links, including polled resources. */
  get subscriptionCount(): number {
    let count = 0;
    for (const links of this.byServer.values())
      for (const { link, pollMs, reconciler } of links.values())
        if (takesSubscriptions(link) || pollMs !== undefined) count += reconciler.size;
    return count;
  }

  of(server: string): readonly UpstreamLink[] {
    return [...(this.byServer.get(server)?.values() ?? [])];
  }

  find(server: string, owner?: string): UpstreamLink | undefined {
    return this.byServer.get(server)?.get(owner);
  }

  /** Replaces the previous link of the same owner. */
  set(server: string, link: UpstreamLink): void {
    this.delete(server, link.owner);
    const links = this.byServer.get(server) ?? new Map<string | undefined, UpstreamLink>();
    this.byServer.set(server, links.set(link.owner, link));
  }

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
