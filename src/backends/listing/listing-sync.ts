import { UNFETCHED_LISTING, type Listing } from '../../core/catalog/catalog.js';
import { completesWithin } from '../../lib/deadlines/timeout.js';
import { DebouncedTask } from '../../lib/queues/debounced-task.js';
import type { Link, LinkRequest } from '../link/link.js';
import { FirstSync } from './first-sync.js';
import { ListFailures } from './list-failures.js';
import { ListFetcher, type ListFetcherOptions } from './list-fetcher.js';
import { KINDS_BY_LIST_CHANGE, KINDS, type Kind, type Lists } from './list-kinds.js';
import { ListRefresh } from './list-refresh.js';

interface ListingSyncOptions extends ListFetcherOptions {
  /** Replaces fetched lists by equal ones that are in memory already. */
  readonly deduplicate?: (lists: Partial<Lists>) => Partial<Lists>;
}

/** Lists that are published together if possible, because one list change of MCP announces both. */
const PARTNERS: Partial<Record<Kind, Kind>> = { resources: 'templates', templates: 'resources' };
/** How long resources and templates wait for each other before one of them is published alone. */
const PARTNER_WAIT_MS = 500;

/** `debounceMs`: a burst of list changes causes one sync. `minIntervalMs`: a list is fetched at most once a second. */
const RESYNC_TIMES = { debounceMs: 100, minIntervalMs: 1000 };

/** What a `ListingSync` reports, and `refreshMs`, a setting that it needs. */
export interface SyncEvents {
  /** Called with the listing after each fetch of a list. Resolves when the catalog has it. */
  publish(listing: Listing): Promise<void>;
  /** `ListingSync.failures` has changed. */
  failuresChanged(): void;
  /** The interval at which lists are fetched again if the server does not announce their changes. */
  refreshMs(): number;
}

/**
 * Keeps the listing of one server up to date. When a list cannot be fetched, the list of the last fetch stays. Each list is
 * fetched and published separately, so that a list that hangs does not delay other lists. Only resources and templates wait
 * for each other, for at most `PARTNER_WAIT_MS`.
 */
export class ListingSync {
  private readonly deduplicate: NonNullable<ListingSyncOptions['deduplicate']>;
  private readonly tasks = new Map(
    KINDS.map((kind) => [kind, new DebouncedTask(() => this.run(kind), RESYNC_TIMES)]),
  );
  /** The last fetch of each kind. */
  private readonly fetches = new Map<Kind, Promise<unknown>>();
  /** The lists that were fetched last. */
  private lists: Lists = UNFETCHED_LISTING;
  private readonly firstSync = new FirstSync();
  /** The kinds whose first fetch over the current link has succeeded or failed. */
  private readonly attemptedKinds = new Set<Kind>();
  private readonly fetcher: ListFetcher;
  readonly failures: ListFailures;
  readonly refresh: ListRefresh;
  private link: Link | undefined;

  constructor(
    server: string,
    private readonly events: SyncEvents,
    /** Sends a request for a page over the link. */
    send = (link: Link, request: LinkRequest) => link.request(request),
    options: ListingSyncOptions = {},
  ) {
    this.deduplicate = options.deduplicate ?? ((lists) => lists);
    this.fetcher = new ListFetcher(server, () => this.lists, send, options);
    this.failures = new ListFailures(server, () => events.failuresChanged());
    this.refresh = new ListRefresh({
      refreshMs: () => events.refreshMs(),
      listsResource: (uri) => typeof uri === 'string' && this.lists.resources.find(uri) !== undefined,
      fetch: (kinds) => this.fetch(kinds),
    });
  }

  /** To be called with a new link. Starts to fetch all lists without a delay. */
  attach(link: Link): void {
    this.link = link;
    this.attemptedKinds.clear();
    for (const task of this.tasks.values()) task.runNow();
    this.refresh.attach(link);
  }

  /** To be called when the link is lost. The lists stay. */
  detach(): void {
    this.link = undefined;
    this.refresh.attach(undefined);
  }

  /** To be called before the link is replaced. From now on, `whenSynced` waits for the first sync over the next link. */
  reset(): void {
    this.firstSync.reset();
    this.detach();
  }

  /** To be called when the server cannot be reached. Ends the waits of `whenSynced`. */
  stopWaitingForFirstSync(): void {
    this.firstSync.complete();
  }

  /** Resolves after the first sync, after `stopWaitingForFirstSync`, or after the timeout. */
  whenSynced(timeoutMs: number): Promise<void> {
    return this.firstSync.wait(timeoutMs);
  }

  /** Schedules a sync after a list change. Returns false when the notification is not a list change. */
  handleListChange(method: string): boolean {
    const kinds = KINDS_BY_LIST_CHANGE.get(method);
    this.fetch(kinds ?? []);
    return kinds !== undefined;
  }

  /** Fetches a list again. Resolves when the catalog has it, or when it could not be fetched. */
  refetch(kind: Kind): Promise<void> {
    return this.tasks.get(kind)!.scheduled();
  }

  /** To be called when list changes may have been lost: fetches the lists for which the server sends list changes. */
  fetchAfterGap(): void {
    const { capabilities = {} } = this.link?.facts ?? {};
    for (const kind of ['tools', 'prompts', 'resources'] as const)
      if (capabilities[kind]?.listChanged) this.handleListChange(`notifications/${kind}/list_changed`);
  }

  stop(): void {
    this.detach();
    for (const task of this.tasks.values()) task.stop();
  }

  private fetch(kinds: readonly Kind[]): void {
    for (const kind of kinds) this.tasks.get(kind)!.schedule();
  }

  /** Fetches and publishes one list. Never rejects: a failure is recorded, and the list is fetched again later. */
  private async run(kind: Kind): Promise<void> {
    const { link } = this;
    if (!link) return;
    // A list that was fetched over an earlier link may not have been published, so it is parsed again even if it is unchanged.
    if (!this.attemptedKinds.has(kind)) this.fetcher.forgetPages(kind);
    try {
      const fetch = this.fetcher.fetch(kind, link).then((lists) => this.deduplicate(lists));
      this.fetches.set(kind, fetch);
      const fetched = await fetch;
      if (this.link !== link) return;
      this.lists = { ...this.lists, ...fetched };
      await this.waitForPartner(kind);
      if (this.link !== link) return;
      await this.events.publish({ ...this.lists, instructions: link.facts.instructions });
      if (this.link !== link) return;
      this.failures.remove(kind);
    } catch (error) {
      this.fetcher.forgetPages(kind);
      if (this.link !== link) return;
      this.tasks.get(kind)!.schedule(this.failures.add(kind, error as Error));
    }
    this.attemptedKinds.add(kind);
    if (this.attemptedKinds.size === KINDS.length) this.firstSync.complete();
  }

  /** Waits for the running fetch of the partner, so that clients get one list change for resources and templates together. */
  private async waitForPartner(kind: Kind): Promise<void> {
    const partner = PARTNERS[kind];
    const fetch = partner && this.fetches.get(partner);
    if (fetch) await completesWithin(Promise.allSettled([fetch]), PARTNER_WAIT_MS);
  }
}
