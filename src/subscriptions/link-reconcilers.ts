import { Logger } from '@nestjs/common';
import type { Backend } from '../backends/backend.js';
import type { Link } from '../backends/link/link.js';
import { updateSourceOf } from '../backends/link/update-source.js';
import type { SubscribableAddress } from '../core/resources/resource-pattern.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import { UpstreamReconciler, type ReconcilerOptions } from '../core/subscriptions/upstream-reconciler.js';
import { scheduleTimeout } from '../lib/backoff/retry-timer.js';
import { PreviousMatches } from './previous-matches.js';
import type { ResourceUpdates } from './resource-updates.js';
import type { Subscribers } from './subscribers.js';
import { MAX_CONCURRENT_REQUESTS } from './subscription-confirmation.js';
import {
  createUpstream,
  sourceOfUpdates,
  UpstreamLinks,
  watchedOn,
  type UpstreamLink,
} from './upstream-link.js';
import type { WantedResources, WatchedUris } from './wanted-resources.js';

const RECONCILER_OPTIONS: ReconcilerOptions = {
  lingerMs: 500,
  maxConcurrent: MAX_CONCURRENT_REQUESTS,
  retry: { firstMs: 5000, maxMs: 300_000 },
  schedule: scheduleTimeout,
};
/**
 * `maxConcurrent` on a link of the 2026 era. URIs that are subscribed at the same time share one listen request there.
 */
const MAX_CONCURRENT_LISTENS = 1000;

/**
 * Starts a reconciler for every link. The reconciler subscribes everything that is wanted on the link, and subscribes
 * everything again after a gap in the notification stream of the link.
 */
export class LinkReconcilers {
  private readonly logger = new Logger('Subscriptions');
  readonly links: UpstreamLinks;
  readonly previousMatches: PreviousMatches;

  constructor(
    subscribers: Subscribers,
    private readonly wanted: WantedResources,
    private readonly updates: Pick<ResourceUpdates, 'reportPossibleChange'>,
    /** Whether a client waits for the confirmation of the row. Such a row is not subscribed in the background. */
    private readonly isPending: (row: Subscription) => boolean,
  ) {
    this.previousMatches = new PreviousMatches(subscribers);
    this.links = new UpstreamLinks((server, link) => this.previousMatches.store(server, link));
  }

  /** Call this for every link that is opened. `owner` is the id of its owner; undefined for the shared link. */
  attach(backend: Backend, link: Link, owner: string | undefined): void {
    this.start(backend, link, owner);
    link.onGap(() => this.notificationsMissed(backend.id, link, owner));
  }

  /**
   * Call this after a change of the configuration. If the poll interval has changed, replaces the reconcilers of links
   * whose updates do not come from upstream subscriptions.
   */
  reconfigured(backend: Backend): void {
    const { subscribe, watch } = backend.config;
    for (const { pollMs, link, owner } of this.links.of(backend.id))
      if (updateSourceOf(link, subscribe, pollMs) !== 'subscriptions' && pollMs !== watch.pollMs)
        this.start(backend, link, owner);
  }

  /** Subscribes the resource of the row, or the resources that match its pattern, in the background. */
  async markRowDirty(row: SubscribableAddress, link: UpstreamLink, watched = watchedOn(link)): Promise<void> {
    for (const uri of await this.wanted.urisOf(row, watched)) link.reconciler.markDirty(uri);
  }

  /**
   * Starts a new reconciler for the link and closes the earlier one, if there is one. The new reconciler has no upstream
   * subscriptions yet, so everything that is wanted is subscribed in the background.
   */
  private start(backend: Backend, link: Link, owner: string | undefined): void {
    const server = backend.id;
    const reportChange = (uri: string): void => this.updates.reportPossibleChange(server, uri, owner);
    const reconciler = new UpstreamReconciler(
      server,
      createUpstream(backend, link, reportChange),
      this.wanted.desiredOn(server, owner),
      {
        // For a deleted resource, no update is sent: its subscribers would conclude that it exists again.
        resubscribed: (uri) => {
          if (!this.wanted.isGone({ server, uri })) reportChange(uri);
        },
        failed: (request, uri, error) =>
          this.logger.warn({ message: `resources/${request} failed`, server, uri, cause: String(error) }),
      },
      link.listens ? { ...RECONCILER_OPTIONS, maxConcurrent: MAX_CONCURRENT_LISTENS } : RECONCILER_OPTIONS,
    );
    const { subscribe: mode, watch } = backend.config;
    const upstreamLink = { link, owner, mode, pollMs: watch.pollMs, reconciler };
    this.links.set(server, upstreamLink);
    void this.markAllDirty(server, upstreamLink, {
      uris: this.previousMatches.take(server, owner),
      areHeld: false,
    });
  }

  private notificationsMissed(server: string, link: Link, owner: string | undefined): void {
    const upstreamLink = this.links.find(server, owner);
    // Polling needs no notifications.
    if (upstreamLink?.link !== link || sourceOfUpdates(upstreamLink) === 'polling') return;
    upstreamLink.reconciler.invalidate();
    void this.markAllDirty(server, upstreamLink, watchedOn(upstreamLink));
  }

  private async markAllDirty(server: string, link: UpstreamLink, watched: WatchedUris): Promise<void> {
    const targets = this.wanted.targetsOf(server, link.owner, (row) => !this.isPending(row));
    for (const { uri, pattern } of targets) if (!pattern) link.reconciler.markDirty(uri);
    for (const { uri, pattern } of targets)
      if (pattern) await this.markRowDirty({ server, uri }, link, watched);
  }
}
