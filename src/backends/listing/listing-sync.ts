import { Logger } from '@nestjs/common';
import { EMPTY_LISTING, type Listing } from '../../core/catalog/catalog.js';
import { ERROR_CODES, RemoteError } from '../../core/errors.js';
import type { Definition } from '../../core/naming/catalog-entry.js';
import { ResourceList } from '../../core/resources/resource-list.js';
import { parseTemplates, type ResourceTemplate } from '../../core/resources/resource-template.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import { completesWithin } from '../../lib/deadlines/timeout.js';
import { DebouncedTask } from '../../lib/queues/debounced-task.js';
import { sliceScheduler } from '../../lib/slices/slices.js';
import type { Link, LinkRequest } from '../link/link.js';
import { fetchList, type FetchedList } from './fetch-list.js';
import { FirstSync } from './first-sync.js';
import { ListFailures } from './list-failures.js';
import { CHANGED_KINDS, KINDS, METHODS, type Kind, type Lists } from './list-kinds.js';
import type { ListLimits } from './list-limits.js';
import { ListRefresh } from './list-refresh.js';
import type { PageDigests } from './page-digests.js';

export interface ListingSyncOptions {
  /** Replaces the usual limits of each list. */
  readonly limits?: ListLimits;
  /** Called for a list over a limit, which is then not used at all. */
  readonly onTruncated?: () => void;
  /** Replaces fetched lists by equal ones that are in memory already. */
  readonly share?: (lists: Partial<Lists>) => Partial<Lists>;
}

const PARTNERS: Partial<Record<Kind, Kind>> = { resources: 'templates', templates: 'resources' };
/** After this time, a list is published without the one that it would be published with. */
const PARTNER_WAIT_MS = 500;

/** Fields of a warning. `count` is the number of affected items. */
type Warning = { readonly count: number } & Readonly<Record<string, unknown>>;

/** The templates of a server that has none. `EMPTY_LISTING.templates` means that they are not known yet. */
const NO_TEMPLATES: readonly ResourceTemplate[] = [];

/** A burst of list changes causes one sync. A list is fetched at most once a second. */
const RESYNC_TIMES = { debounceMs: 100, minIntervalMs: 1000 };
export interface SyncEvents {
  /** Resolves when the catalog has the listing. */
  publish(listing: Listing): Promise<void>;
  /** `failures` has changed. */
  failuresChanged(): void;
  /** The interval at which a server without a notification stream is listed again. */
  refreshMs(): number;
}

/**
 * Keeps the listing of one server current. When a list cannot be fetched, the last known one is kept. Each list is fetched
 * and published separately, so that a list that hangs does not delay the others; only resources and templates wait for each
 * other for a moment.
 */
export class ListingSync {
  private readonly share: NonNullable<ListingSyncOptions['share']>;
  private readonly logger = new Logger('Sync');
  private readonly tasks = new Map(
    KINDS.map((kind) => [kind, new DebouncedTask(() => this.run(kind), RESYNC_TIMES)]),
  );
  /** By kind: its last fetch. */
  private readonly fetches = new Map<Kind, Promise<unknown>>();
  private known: Lists = EMPTY_LISTING;
  private readonly firstSync = new FirstSync();
  /** Kinds whose first fetch over the current link has succeeded or failed. */
  private readonly done = new Set<Kind>();
  /** The fields of the last warning, as JSON, by message. */
  private readonly warnings = new Map<string, string>();
  private readonly digests = new Map<Kind, PageDigests>();
  readonly failures: ListFailures;
  readonly refresh: ListRefresh;
  private link: Link | undefined;

  constructor(
    private readonly server: string,
    private readonly events: SyncEvents,
    /** Sends a request of this class over the link. */
    private readonly send = (link: Link, request: LinkRequest) => link.request(request),
    private readonly options: ListingSyncOptions = {},
  ) {
    this.share = options.share ?? ((lists) => lists);
    this.failures = new ListFailures(server, () => events.failuresChanged());
    this.refresh = new ListRefresh({
      refreshMs: () => events.refreshMs(),
      listsResource: (uri) => typeof uri === 'string' && this.known.resources.find(uri) !== undefined,
      fetch: (kinds) => this.fetch(kinds),
    });
  }

  /** Fetches all lists over a new link at once. */
  attach(link: Link): void {
    this.link = link;
    this.done.clear();
    for (const task of this.tasks.values()) task.runNow();
    this.refresh.attach(link);
  }

  /** To be called when the link is lost. The known lists are kept. */
  detach(): void {
    this.link = undefined;
    this.refresh.attach(undefined);
  }

  /** To be called when the link is replaced: from now on `whenSynced` waits for the first sync over the next link. */
  reset(): void {
    this.firstSync.reset();
    this.detach();
  }

  /** Resolves `whenSynced`, because the server cannot be reached. */
  skipFirstSync(): void {
    this.firstSync.complete();
  }

  /** Resolves after the first sync over the link, after `skipFirstSync`, or after the timeout. */
  whenSynced(timeoutMs: number): Promise<void> {
    return this.firstSync.wait(timeoutMs);
  }

  /** Schedules a sync after a list change. Returns false when the notification is not a list change. */
  handleListChange(method: string): boolean {
    const kinds = CHANGED_KINDS.get(method);
    this.fetch(kinds ?? []);
    return kinds !== undefined;
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

  private async run(kind: Kind): Promise<void> {
    const { link } = this;
    if (!link) return;
    // A list that was fetched over an earlier link may not have been published.
    if (!this.done.has(kind)) this.digests.delete(kind);
    try {
      const fetch = this.fetchers[kind](link).then((lists) => this.share(lists));
      this.fetches.set(kind, fetch);
      const fetched = await fetch;
      if (this.link !== link) return;
      this.known = { ...this.known, ...fetched };
      await this.waitForPartner(kind);
      if (this.link !== link) return;
      await this.events.publish({ ...this.known, instructions: link.facts.instructions });
      if (this.link !== link) return;
      this.failures.remove(kind);
    } catch (error) {
      this.digests.delete(kind);
      if (this.link !== link) return;
      this.tasks.get(kind)!.schedule(this.failures.add(kind, error as Error));
    }
    this.done.add(kind);
    if (this.done.size === KINDS.length) this.firstSync.complete();
  }

  /** Clients get one list change for resources and templates together, so they are published together. */
  private async waitForPartner(kind: Kind): Promise<void> {
    const partner = PARTNERS[kind];
    const fetch = partner && this.fetches.get(partner);
    if (fetch) await completesWithin(Promise.allSettled([fetch]), PARTNER_WAIT_MS);
  }

  private readonly fetchers: { [K in Kind]: (link: Link) => Promise<Partial<Lists>> } = {
    tools: async (link) => ({ tools: await this.fetchNamed(link, 'tools') }),
    prompts: async (link) => ({ prompts: await this.fetchNamed(link, 'prompts') }),
    resources: async (link) => ({ resources: await this.fetchResources(link) }),
    templates: async (link) => ({ templates: await this.fetchTemplates(link) }),
  };

  private async fetchNamed(link: Link, kind: 'tools' | 'prompts'): Promise<readonly Definition[]> {
    if (!link.facts.capabilities[kind]) return this.withoutDigest(kind, []);
    const definitions = await this.fetchDefinitions(link, kind);
    return definitions ? withoutDuplicates(definitions) : this.known[kind];
  }

  private async fetchResources(link: Link): Promise<ResourceList> {
    if (!link.facts.capabilities.resources) return this.withoutDigest('resources', ResourceList.EMPTY);
    const { resources } = this.known;
    const definitions = await this.fetchDefinitions(link, 'resources');
    if (!definitions) return resources;
    const yieldIfDue = sliceScheduler.start();
    const list = await ResourceList.build(this.server, definitions, yieldIfDue);
    if (list.size === 0) return ResourceList.EMPTY;
    return (await list.equals(resources, yieldIfDue)) ? resources : list;
  }

  private async fetchTemplates(link: Link): Promise<readonly ResourceTemplate[]> {
    const known = this.known.templates;
    if (!link.facts.capabilities.resources) return this.withoutDigest('templates', NO_TEMPLATES);
    const definitions = await this.fetchDefinitions(link, 'templates');
    if (!definitions) return known;
    const { templates, refused } = await parseTemplates(this.server, definitions, sliceScheduler.start());
    this.warnIfChanged('templates are not listed: invalid or too complex URI templates', {
      count: refused.length,
      uriTemplates: refused.slice(0, 5).map((uriTemplate) => uriTemplate.slice(0, 200)),
    });
    const isListedBefore = known !== EMPTY_LISTING.templates;
    return isListedBefore && haveSameTexts(templates, known) ? known : templates;
  }

  /** Warns only when the warning differs from the last one, because the same list is fetched repeatedly. */
  private warnIfChanged(message: string, warning: Warning): void {
    const text = JSON.stringify(warning);
    if (this.warnings.get(message) === text) return;
    this.warnings.set(message, text);
    if (warning.count > 0) this.logger.warn({ message, server: this.server, ...warning });
  }

  /** Returns the list of a server that has none. */
  private withoutDigest<T>(kind: Kind, list: T): T {
    this.digests.delete(kind);
    return list;
  }

  /** Returns undefined when the known list is kept: it has not changed, or the server's list is truncated. */
  private async fetchDefinitions(link: Link, kind: Kind): Promise<FetchedList['definitions'] | undefined> {
    const { server, known } = this;
    const isKnown = kind === 'resources' ? known.resources.size > 0 : known[kind].length > 0;
    const request = (page: LinkRequest): Promise<JsonText> => this.send(link, page);
    const { limits, onTruncated } = this.options;
    const digests = this.digests.get(kind);
    const fetched = await fetchList({ request }, METHODS[kind], limits, digests).catch(emptyIfUnknownMethod);
    if (fetched.isUnchanged) return undefined;
    this.digests.set(kind, fetched.digests);
    const {
      definitions,
      leftOut = 0,
      needTasks = 0,
      repaired = 0,
      truncated,
      hasRepeatedCursor = false,
    } = fetched;
    this.warnIfChanged(`${METHODS[kind]}: invalid definitions were repaired or left out`, {
      count: leftOut + repaired,
      leftOut,
      repaired,
    });
    this.warnIfChanged(`${METHODS[kind]} ended because the server repeats a cursor`, {
      count: Number(hasRepeatedCursor),
    });
    this.warnIfChanged(`${METHODS[kind]}: definitions that need tasks are not listed`, { count: needTasks });
    if (truncated === undefined) return definitions;
    this.logger.warn({ message: `${METHODS[kind]} was cut short`, server, reason: truncated });
    onTruncated?.();
    return isKnown || onTruncated ? undefined : definitions;
  }
}

/** A server with resources need not implement templates. */
function emptyIfUnknownMethod(error: unknown): FetchedList {
  if (error instanceof RemoteError && error.code === ERROR_CODES['method-not-found'].code)
    return { definitions: [] };
  throw error;
}

function withoutDuplicates(definitions: readonly Definition[]): readonly Definition[] {
  const seen = new Set<string>();
  return definitions.filter(({ name }) => !seen.has(name) && seen.add(name));
}

const haveSameTexts = (a: readonly ResourceTemplate[], b: readonly ResourceTemplate[]): boolean =>
  a.length === b.length && a.every(({ text }, index) => text === b[index]!.text);
