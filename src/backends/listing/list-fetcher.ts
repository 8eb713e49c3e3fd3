import { Logger } from '@nestjs/common';
import { EMPTY_LISTING } from '../../core/catalog/catalog.js';
import { ERROR_CODES, RemoteError } from '../../core/errors.js';
import type { Definition } from '../../core/naming/catalog-entry.js';
import { ResourceList } from '../../core/resources/resource-list.js';
import { parseTemplates, type ResourceTemplate } from '../../core/resources/resource-template.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import { sliceScheduler } from '../../lib/slices/slices.js';
import type { Link, LinkRequest } from '../link/link.js';
import { fetchList, type FetchedList } from './fetch-list.js';
import { METHODS, type Kind, type Lists } from './list-kinds.js';
import type { ListLimits } from './list-limits.js';
import type { PageDigests } from './page-digests.js';

export interface ListFetcherOptions {
  /** Replaces the usual limits of each list. */
  readonly limits?: ListLimits;
  /** Called for a list over a limit, which is then not used at all. */
  readonly onTruncated?: () => void;
}

/** Fields of a warning. `count` is the number of affected items. */
type Warning = { readonly count: number } & Readonly<Record<string, unknown>>;

/** The templates of a server that has none. `EMPTY_LISTING.templates` means that they are not known yet. */
const NO_TEMPLATES: readonly ResourceTemplate[] = [];

/**
 * Fetches one list of a server at a time, and logs what is wrong with it. A list that has not changed stays the same
 * object.
 */
export class ListFetcher {
  private readonly logger = new Logger('Sync');
  /** The fields of the last warning, as JSON, by message. */
  private readonly warnings = new Map<string, string>();
  private readonly digests = new Map<Kind, PageDigests>();

  constructor(
    private readonly server: string,
    /** The lists of the last fetches. */
    private readonly known: () => Lists,
    private readonly send: (link: Link, request: LinkRequest) => Promise<JsonText>,
    private readonly options: ListFetcherOptions,
  ) {}

  async fetch(kind: Kind, link: Link): Promise<Partial<Lists>> {
    switch (kind) {
      case 'resources':
        return { resources: await this.fetchResources(link) };
      case 'templates':
        return { templates: await this.fetchTemplates(link) };
      default:
        return { [kind]: await this.fetchNamed(link, kind) };
    }
  }

  /** The next fetch reads all pages, even if they are as before. */
  forgetPages(kind: Kind): void {
    this.digests.delete(kind);
  }

  private async fetchNamed(link: Link, kind: 'tools' | 'prompts'): Promise<readonly Definition[]> {
    if (!link.facts.capabilities[kind]) return this.withoutDigest(kind, []);
    const definitions = await this.fetchDefinitions(link, kind);
    return definitions ? withoutDuplicates(definitions) : this.known()[kind];
  }

  private async fetchResources(link: Link): Promise<ResourceList> {
    if (!link.facts.capabilities.resources) return this.withoutDigest('resources', ResourceList.EMPTY);
    const { resources } = this.known();
    const definitions = await this.fetchDefinitions(link, 'resources');
    if (!definitions) return resources;
    const yieldIfDue = sliceScheduler.start();
    const list = await ResourceList.build(this.server, definitions, yieldIfDue);
    if (list.size === 0) return ResourceList.EMPTY;
    return (await list.equals(resources, yieldIfDue)) ? resources : list;
  }

  private async fetchTemplates(link: Link): Promise<readonly ResourceTemplate[]> {
    const known = this.known().templates;
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

  /** Forgets the digests of the list, and returns `list`: that of a server without this capability. */
  private withoutDigest<T>(kind: Kind, list: T): T {
    this.digests.delete(kind);
    return list;
  }

  /** Returns undefined when the known list is kept: it has not changed, or the server's list is truncated. */
  private async fetchDefinitions(link: Link, kind: Kind): Promise<FetchedList['definitions'] | undefined> {
    const { server } = this;
    const known = this.known();
    const isKnown = kind === 'resources' ? known.resources.size > 0 : known[kind].length > 0;
    const request = (page: LinkRequest): Promise<JsonText> => this.send(link, page);
    const { sendsParamHeaders } = link;
    const { limits, onTruncated } = this.options;
    const digests = this.digests.get(kind);
    const source = { request, sendsParamHeaders };
    const fetched = await fetchList(source, METHODS[kind], limits, digests).catch(emptyIfUnknownMethod);
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
