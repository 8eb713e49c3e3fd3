import { Logger } from '@nestjs/common';
import { UNFETCHED_LISTING } from '../../core/catalog/catalog.js';
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
  /** These limits apply in place of the usual limits of each list. */
  readonly limits?: ListLimits;
  /**
   * Called when a fetched list is over a limit. If this function is set, such a list is never used. If the function is not set,
   * such a list is used only if the current list is empty.
   */
  readonly onTruncated?: () => void;
}

/** Maximum URI templates in one warning, and the length to which each of them is cut. */
const MAX_LOGGED_TEMPLATES = 5;
const MAX_LOGGED_LENGTH = 200;

/** Fields of a warning. `count` is the number of affected items. */
type Warning = { readonly count: number } & Readonly<Record<string, unknown>>;

/** The templates of a server that has none. In contrast, `UNFETCHED_LISTING.templates` means that they were not fetched yet. */
const NO_TEMPLATES: readonly ResourceTemplate[] = [];

/** Fetches the lists of one server, and logs their defects. A list that has not changed stays the same object. */
export class ListFetcher {
  private readonly logger = new Logger('Sync');
  /** By message: the fields of the last warning as JSON. */
  private readonly warnings = new Map<string, string>();
  private readonly digests = new Map<Kind, PageDigests>();

  constructor(
    private readonly server: string,
    /** The lists that were fetched last. */
    private readonly currentLists: () => Lists,
    private readonly send: (link: Link, request: LinkRequest) => Promise<JsonText>,
    private readonly options: ListFetcherOptions,
  ) {}

  /** Resolves with the list of this kind. Rejects when it cannot be fetched. */
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

  /** Makes the next fetch parse the items of all pages, even if the pages have not changed. */
  forgetPages(kind: Kind): void {
    this.digests.delete(kind);
  }

  private async fetchNamed(link: Link, kind: 'tools' | 'prompts'): Promise<readonly Definition[]> {
    if (!link.facts.capabilities[kind]) {
      this.forgetPages(kind);
      return [];
    }
    const definitions = await this.fetchDefinitions(link, kind);
    return definitions ? withoutDuplicates(definitions) : this.currentLists()[kind];
  }

  private async fetchResources(link: Link): Promise<ResourceList> {
    if (!link.facts.capabilities.resources) {
      this.forgetPages('resources');
      return ResourceList.EMPTY;
    }
    const { resources } = this.currentLists();
    const definitions = await this.fetchDefinitions(link, 'resources');
    if (!definitions) return resources;
    const yieldIfDue = sliceScheduler.start();
    const list = await ResourceList.build(this.server, definitions, yieldIfDue);
    if (list.size === 0) return ResourceList.EMPTY;
    return (await list.equals(resources, yieldIfDue)) ? resources : list;
  }

  private async fetchTemplates(link: Link): Promise<readonly ResourceTemplate[]> {
    const currentTemplates = this.currentLists().templates;
    if (!link.facts.capabilities.resources) {
      this.forgetPages('templates');
      return NO_TEMPLATES;
    }
    const definitions = await this.fetchDefinitions(link, 'templates');
    if (!definitions) return currentTemplates;
    const { templates, refused } = await parseTemplates(this.server, definitions, sliceScheduler.start());
    this.warnIfChanged('templates are not listed: invalid or too complex URI templates', {
      count: refused.length,
      uriTemplates: refused
        .slice(0, MAX_LOGGED_TEMPLATES)
        .map((uriTemplate) => uriTemplate.slice(0, MAX_LOGGED_LENGTH)),
    });
    const isFirstFetch = currentTemplates === UNFETCHED_LISTING.templates;
    return !isFirstFetch && haveSameTexts(templates, currentTemplates) ? currentTemplates : templates;
  }

  /** Warns only when the warning differs from the last one, because the same list is fetched repeatedly. */
  private warnIfChanged(message: string, warning: Warning): void {
    const text = JSON.stringify(warning);
    if (this.warnings.get(message) === text) return;
    this.warnings.set(message, text);
    if (warning.count > 0) this.logger.warn({ message, server: this.server, ...warning });
  }

  /**
   * Resolves with undefined when the current list stays: the server's list has not changed, or it is truncated. A truncated
   * list is used only if the current list is empty and `onTruncated` is not set.
   */
  private async fetchDefinitions(link: Link, kind: Kind): Promise<FetchedList['definitions'] | undefined> {
    const { server } = this;
    const currentLists = this.currentLists();
    const isCurrentListEmpty =
      kind === 'resources' ? currentLists.resources.size === 0 : currentLists[kind].length === 0;
    const request = (pageRequest: LinkRequest): Promise<JsonText> => this.send(link, pageRequest);
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
    return isCurrentListEmpty && !onTruncated ? definitions : undefined;
  }
}

/** An empty list if the server does not know the method: a server with resources need not implement templates. */
function emptyIfUnknownMethod(error: unknown): FetchedList {
  if (error instanceof RemoteError && error.code === ERROR_CODES['method-not-found'].code)
    return { definitions: [] };
  throw error;
}

/** The first definition of each name. */
function withoutDuplicates(definitions: readonly Definition[]): readonly Definition[] {
  const byName = new Map<string, Definition>();
  for (const definition of definitions)
    if (!byName.has(definition.name)) byName.set(definition.name, definition);
  return [...byName.values()];
}

const haveSameTexts = (a: readonly ResourceTemplate[], b: readonly ResourceTemplate[]): boolean =>
  a.length === b.length && a.every(({ text }, index) => text === b[index]!.text);
