import type { Backend } from '../backends/backend.js';
import type { Backends } from '../backends/backends.service.js';
import { timeoutError } from '../backends/link/link-errors.js';
import { RemoteError, serverUnavailable } from '../core/errors.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import { withTimeout } from '../lib/deadlines/timeout.js';
import type { Subscribers } from './subscribers.js';
import type { UpstreamLinks } from './upstream-link.js';

/**
 * Maximum number of concurrent subscribe requests for one row. Also the maximum of a reconciler, except on a link of the
 * 2026 era.
 */
export const MAX_CONCURRENT_REQUESTS = 8;

/** Waits until the server has confirmed the URIs of a new row, because the client waits for its response. */
export class SubscriptionConfirmation {
  constructor(
    private readonly links: UpstreamLinks,
    private readonly backends: Backends,
    private readonly subscribers: Subscribers,
  ) {}

  /** Resolves with the URIs that the server confirmed. Rejects if requests failed and no URI was confirmed. */
  async confirm(row: Subscription, uris: readonly string[]): Promise<ReadonlySet<string>> {
    // All workers take their URIs from this one iterator.
    const remainingUris = uris.values();
    const confirmed = new Set<string>();
    const failures: unknown[] = [];
    const worker = async (): Promise<void> => {
      for (const uri of remainingUris) {
        try {
          await this.confirmUri(row, uri);
          confirmed.add(uri);
        } catch (error) {
          failures.push(error);
          // A server that refuses one resource may accept the next one. After a timeout or a lost link, more requests
          // would fail too.
          if (!(error instanceof RemoteError)) return;
        }
      }
    };
    const workerCount = Math.min(uris.length, MAX_CONCURRENT_REQUESTS);
    await Promise.all(Array.from({ length: workerCount }, worker));
    if (failures.length > 0 && confirmed.size === 0) throw failures[0];
    return confirmed;
  }

  /** Rejects after `timeoutMs` of the server, even if the reconciler has not sent the request yet. */
  private async confirmUri(row: Subscription, uri: string): Promise<void> {
    const backend = this.backends.get(row.server);
    const { timeoutMs } = backend.config;
    const confirmation = backend.hasSessionLinks
      ? this.confirmOnSessionLink(backend, row, uri)
      : this.confirmOnSharedLink(backend, uri);
    await withTimeout(confirmation, timeoutMs, () =>
      timeoutError(row.server, 'resources/subscribe', timeoutMs),
    );
  }

  /** Repeats the request if the next link opens without a delay, as after the server has ended the session of the link. */
  private async confirmOnSharedLink(backend: Backend, uri: string): Promise<void> {
    const link = this.links.find(backend.id)?.link;
    try {
      return await this.confirmOnLink(backend.id, undefined, uri);
    } catch (error) {
      if (error instanceof RemoteError || !(await backend.replacementLink(link))) throw error;
    }
    await this.confirmOnLink(backend.id, undefined, uri);
  }

  /** Opens the link of the row's link owner if necessary. Repeats the request on the next link if this link was lost. */
  private async confirmOnSessionLink(backend: Backend, row: Subscription, uri: string): Promise<void> {
    const owner = this.subscribers.subscriberOf(row)?.linkOwner;
    if (!owner) return;
    const link = await backend.sessionLink(owner);
    try {
      return await this.confirmOnLink(backend.id, owner.id, uri);
    } catch (error) {
      if (error instanceof RemoteError || this.links.find(backend.id, owner.id)?.link === link) throw error;
    }
    await backend.sessionLink(owner);
    await this.confirmOnLink(backend.id, owner.id, uri);
  }

  /** Repeats the request if the reconciler of the link was replaced meanwhile, as after a change of the poll interval. */
  private async confirmOnLink(server: string, owner: string | undefined, uri: string): Promise<void> {
    const link = this.links.find(server, owner);
    if (!link)
      throw (
        this.backends.get(server).refuseIfUnavailable() ?? serverUnavailable(server, 'it is not connected')
      );
    try {
      await link.reconciler.confirm(uri);
    } catch (error) {
      const next = this.links.find(server, owner);
      if (error instanceof RemoteError || next === link || next?.link !== link.link) throw error;
      await this.confirmOnLink(server, owner, uri);
    }
  }
}
