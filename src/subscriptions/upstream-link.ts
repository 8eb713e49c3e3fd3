import type { Backend } from '../backends/backend.js';
import { toCallError } from '../backends/link/link-errors.js';
import type { Link } from '../backends/link/link.js';
import type { Upstream, UpstreamReconciler } from '../core/subscriptions/upstream-reconciler.js';
import { PollingUpstream } from './polling-upstream.js';

/**
 * - `subscribe`: the server supports subscriptions
 * - `poll`: the gateway polls the resources
 * - `unsolicited`: neither; the server may send updates without subscriptions
 */
type UpstreamKind = 'subscribe' | 'poll' | 'unsolicited';

/** One live link to a server, with the reconciler of its upstream subscriptions. */
export interface UpstreamLink {
  readonly link: Link;
  /** Id of the session that owns the link; undefined for the link that all clients share. */
  readonly owner: string | undefined;
  readonly kind: UpstreamKind;
  readonly pollMs: number | undefined;
  readonly reconciler: UpstreamReconciler;
}

export function upstreamKindOf(backend: Backend, link: Link): UpstreamKind {
  if (link.facts.capabilities.resources?.subscribe === true) return 'subscribe';
  return backend.config.watch.pollMs === undefined ? 'unsolicited' : 'poll';
}

/** `onChange` is called with the URI of a resource that a poll found changed. */
export function createUpstream(backend: Backend, link: Link, onChange: (uri: string) => void): Upstream {
  if (upstreamKindOf(backend, link) === 'subscribe') return subscribingUpstream(backend, link);
  const { pollMs } = backend.config.watch;
  if (pollMs === undefined) return UNSOLICITED;
  return new PollingUpstream(
    (uri) => backend.gatewayRequest(link, 'resources/read', JSON.stringify({ uri })),
    onChange,
    pollMs,
  );
}

const UNSOLICITED: Upstream = {
  subscribe: () => Promise.resolve(),
  unsubscribe: () => Promise.resolve(),
};

function subscribingUpstream(backend: Backend, link: Link): Upstream {
  const request = async (method: string, uri: string): Promise<void> => {
    // An update that is sent before the notification stream is open would be lost.
    await link.notificationsReady;
    await backend.gatewayRequest(link, method, JSON.stringify({ uri })).catch((error: unknown) => {
      throw toCallError(backend.id, error);
    });
  };
  return {
    subscribe: (uri) => request('resources/subscribe', uri),
    unsubscribe: (uri) => request('resources/unsubscribe', uri),
  };
}

/** The live links, by server and owner. */
export class UpstreamLinks {
  private readonly byServer = new Map<string, Map<string | undefined, UpstreamLink>>();

  /** Number of upstream subscriptions on all links, including polled resources. */
  get subscriptionCount(): number {
    let count = 0;
    for (const links of this.byServer.values())
      for (const { kind, reconciler } of links.values()) if (kind !== 'unsolicited') count += reconciler.size;
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
    link?.reconciler.close('the connection was lost');
  }

  clear(): void {
    for (const [server, links] of this.byServer) for (const owner of links.keys()) this.delete(server, owner);
  }
}
