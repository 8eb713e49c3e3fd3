import { Logger } from '@nestjs/common';
import { EMPTY_LISTING, type Listing } from '../../core/catalog/catalog.js';
import { ERROR_CODES, RemoteError } from '../../core/errors.js';
import type { Definition } from '../../core/naming/catalog-entry.js';
import { ResourceList } from '../../core/resources/resource-list.js';
import { parseTemplates, type ResourceTemplate } from '../../core/resources/resource-template.js';
import { sliceScheduler } from '../../lib/slices/slices.js';
import type { Link } from '../link/link.js';
import { fetchList, type FetchedList, type ListMethod } from './fetch-list.js';
import { DebouncedTask } from '../../lib/queues/debounced-task.js';

/** Everything that a server lists; each list is fetched on its own. */
type Lists = Omit<Listing, 'instructions'>;
type Kind = keyof Lists;

const METHODS: Readonly<Record<Kind, ListMethod>> = {
  tools: 'tools/list',
  prompts: 'prompts/list',
  resources: 'resources/list',
  templates: 'resources/templates/list',
};
const KINDS = Object.keys(METHODS) as readonly Kind[];

const KINDS_OF_NOTICE = new Map<string, readonly Kind[]>([
  ['notifications/tools/list_changed', ['tools']],
  ['notifications/prompts/list_changed', ['prompts']],
  // There is no notice for templates alone.
  ['notifications/resources/list_changed', ['resources', 'templates']],
]);

/** What is the matter, and with how many. */
type Facts = { readonly count: number } & Readonly<Record<string, unknown>>;

/** A failed sync is tried again after this long; the server itself may have nothing more to say. */
const RETRY_MS = 5000;
/** A burst of list changes causes one sync, and no list is fetched more often than once a second. */
const RESYNC_TIMES = { debounceMs: 100, minIntervalMs: 1000 };

/**
 * Keeps a server's listing current. What cannot be fetched stays as it was last known. Each kind is fetched and
 * published on its own, so that a list which hangs holds up only itself.
 */
export class Sync {
  private readonly logger = new Logger('Sync');
  private readonly resyncs = new Map(
    KINDS.map((kind) => [kind, new DebouncedTask(() => this.run(kind), RESYNC_TIMES)]),
  );
  private known: Lists = EMPTY_LISTING;
  /** Over the link there is. */
  private readonly tried = new Set<Kind>();
  /** By message, the facts that were last warned of. */
  private readonly warned = new Map<string, string>();
  private link: Link | undefined;

  constructor(
    private readonly server: string,
    /** Resolves when the catalog has the listing. */
    private readonly publish: (listing: Listing) => Promise<void>,
    /** Every kind has been fetched over the link there is, or could not be. */
    private readonly onTried: () => void = () => {},
  ) {}

  /** A new link: everything it offers is fetched at once. */
  attach(link: Link): void {
    this.link = link;
    this.tried.clear();
    for (const resync of this.resyncs.values()) resync.runNow();
  }

  /** The link is lost: there is nothing to fetch until the next one, and what is known stays. */
  detach(): void {
    this.link = undefined;
  }

  /** True when the notification was a change notice, and so is dealt with. */
  takeNotice(method: string): boolean {
    const kinds = KINDS_OF_NOTICE.get(method);
    for (const kind of kinds ?? []) this.resyncs.get(kind)!.schedule();
    return kinds !== undefined;
  }

  /** Change notices may have been missed: what the server would have told of is fetched again. */
  catchUp(): void {
    const { capabilities = {} } = this.link?.facts ?? {};
    for (const kind of ['tools', 'prompts', 'resources'] as const)
      if (capabilities[kind]?.listChanged) this.takeNotice(`notifications/${kind}/list_changed`);
  }

  stop(): void {
    this.detach();
    for (const resync of this.resyncs.values()) resync.stop();
  }

  private async run(kind: Kind): Promise<void> {
    const { link } = this;
    if (!link) return;
    try {
      const fetched = await this.fetch[kind](link);
      if (this.link !== link) return;
      this.known = { ...this.known, ...fetched };
      await this.publish({ ...this.known, instructions: link.facts.instructions });
      if (this.link !== link) return;
    } catch (error) {
      if (this.link !== link) return;
      const { server } = this;
      this.logger.warn({ message: `${METHODS[kind]} failed`, server, cause: String(error) });
      this.resyncs.get(kind)!.schedule(RETRY_MS);
    }
    this.tried.add(kind);
    if (this.tried.size === KINDS.length) this.onTried();
  }

  private readonly fetch: { [K in Kind]: (link: Link) => Promise<Partial<Lists>> } = {
    tools: async (link) => ({ tools: await this.named(link, 'tools') }),
    prompts: async (link) => ({ prompts: await this.named(link, 'prompts') }),
    resources: async (link) => ({ resources: await this.resources(link) }),
    templates: async (link) => ({ templates: await this.templates(link) }),
  };

  private async named(link: Link, kind: 'tools' | 'prompts'): Promise<readonly Definition[]> {
    if (!link.facts.capabilities[kind]) return [];
    const definitions = await this.wholeList(link, kind, this.known[kind].length > 0);
    return definitions ? firstOfEach(definitions) : this.known[kind];
  }

  private async resources(link: Link): Promise<ResourceList> {
    if (!link.facts.capabilities.resources) return ResourceList.NONE;
    const { resources } = this.known;
    const definitions = await this.wholeList(link, 'resources', resources.size > 0);
    if (!definitions) return resources;
    const yieldIfDue = sliceScheduler.start();
    const list = await ResourceList.build(this.server, definitions, yieldIfDue);
    if (list.size === 0) return ResourceList.NONE;
    return (await list.equals(resources, yieldIfDue)) ? resources : list;
  }

  private async templates(link: Link): Promise<readonly ResourceTemplate[]> {
    if (!link.facts.capabilities.resources) return EMPTY_LISTING.templates;
    const known = this.known.templates;
    const definitions = await this.wholeList(link, 'templates', known.length > 0);
    if (!definitions) return known;
    const { templates, refused } = await parseTemplates(this.server, definitions, sliceScheduler.start());
    this.warnAnew('templates are not listed: they are no valid URI templates, or too much of one', {
      count: refused.length,
      uriTemplates: refused.slice(0, 5).map((uriTemplate) => uriTemplate.slice(0, 200)),
    });
    return sameTexts(templates, known) ? known : templates;
  }

  /** Servers are listed again and again: what is the matter with some entries is said when it changes. */
  private warnAnew(message: string, facts: Facts): void {
    const text = JSON.stringify(facts);
    if (this.warned.get(message) === text) return;
    this.warned.set(message, text);
    if (facts.count > 0) this.logger.warn({ message, server: this.server, ...facts });
  }

  /** Undefined when it was cut short and what is known already serves better. */
  private async wholeList(
    link: Link,
    kind: Kind,
    anyKnown: boolean,
  ): Promise<FetchedList['definitions'] | undefined> {
    const { server } = this;
    const fetched = await fetchList(link, METHODS[kind]).catch(noneIfUnknown);
    const { definitions, leftOut = 0, repaired = 0, truncated } = fetched;
    const odd = leftOut + repaired;
    this.warnAnew(`${METHODS[kind]}: some are not what clients accept`, { count: odd, leftOut, repaired });
    if (truncated === undefined) return definitions;
    this.logger.warn({ message: `${METHODS[kind]} was cut short`, server, reason: truncated });
    return anyKnown ? undefined : definitions;
  }
}

/** Servers with resources need not have templates, and say so by not knowing the method. */
function noneIfUnknown(error: unknown): FetchedList {
  if (error instanceof RemoteError && error.code === ERROR_CODES['method-not-found'].code)
    return { definitions: [] };
  throw error;
}

function firstOfEach(definitions: readonly Definition[]): readonly Definition[] {
  const seen = new Set<string>();
  return definitions.filter(({ name }) => !seen.has(name) && seen.add(name));
}

const sameTexts = (a: readonly ResourceTemplate[], b: readonly ResourceTemplate[]): boolean =>
  a.length === b.length && a.every(({ text }, index) => text === b[index]!.text);
