import { runSliced, type Steps } from '../../lib/slices/run-sliced.js';
import { sortSteps } from '../../lib/slices/sliced-sort.js';
import type { Yield } from '../../lib/slices/slices.js';
import { buildPage, type Paged, type PageItem } from '../catalog/list-page.js';
import type { Resource } from './resource-list.js';
import {
  exactAddress,
  patternOf,
  type ResourcePattern,
  type SubscribableAddress,
} from './resource-pattern.js';
import type { ResourceTemplate } from './resource-template.js';
import { bestInstances } from './template-matches.js';
import { parseResourceForm, type ResourceAddress } from './resource-uri.js';
import {
  compareTemplates,
  resourceText,
  templateText,
  type PublicResource,
  type PublicTemplate,
} from './public-resource.js';
import { mergeRuns } from '../../lib/sorted/merge-runs.js';
import type { ResolvedResource, ServerResources } from './server-resources.js';
import type { Scope } from '../scope.js';
import { uriOwners } from './uri-owners.js';
import { upperBound } from '../../lib/sorted/binary-search.js';

/** The resources and templates that one scope sees. */
export class ResourceView {
  private readonly byServer: ReadonlyMap<string, ServerResources>;
  private sortedTemplates: readonly PublicTemplate[] | undefined;
  private preparation: Promise<unknown> | undefined;
  private isPrepared = false;

  constructor(
    /** The resources of each server in the scope that has listed its resources, sorted by the rank of the server. */
    private readonly parts: readonly ServerResources[],
    private readonly context: {
      readonly scope: Scope;
      /** The ids of all configured servers. */
      readonly servers: ReadonlySet<string>;
      /** Finds, in steps, which servers list each shared URI. Later checks for conflicts are then cheaper. */
      readonly findServers: () => Steps;
    },
  ) {
    this.byServer = new Map(parts.map((part) => [part.server, part]));
  }

  part(server: string): ServerResources | undefined {
    return this.byServer.get(server);
  }

  /** The servers whose id the URI contains, so that it belongs to them (`uriOwners`). Only servers in the scope. */
  ownersOf(text: string): string[] {
    const { scope, servers } = this.context;
    return uriOwners(text, servers).filter((server) => scope.allows(server));
  }

  /** Number of resources of one server, or of all servers of the scope. */
  count(server?: string): number {
    if (server !== undefined) return this.byServer.get(server)?.list.size ?? 0;
    return this.parts.reduce((sum, { list }) => sum + list.size, 0);
  }

  /** Sorts the lists of resources and of templates in slices (`Paged.prepare`). */
  readonly prepare = (startSlices: () => Yield): Promise<unknown> | undefined => {
    if (this.isPrepared) return undefined;
    this.preparation ??= runSliced(this.sortLists(), startSlices());
    // The first slice may have sorted the lists already.
    return this.isPrepared ? undefined : this.preparation;
  };

  readonly resources: Paged = {
    prepare: this.prepare,
    page: (request) => buildPage(request, mapped(this.after(request.after, request.size + 1), resourceItem)),
  };

  readonly templates: Paged = {
    prepare: this.prepare,
    page: (request) => {
      const { after, size } = request;
      const from =
        after === '' ? 0 : upperBound(this.listedTemplates, after, ({ uriTemplate }) => uriTemplate);
      const listed = this.listedTemplates.slice(from, from + size + 1);
      return buildPage(request, mapped(listed, templateItem));
    },
  };

  /** Sorted by public URI template. */
  get listedTemplates(): readonly PublicTemplate[] {
    return (this.sortedTemplates ??= this.parts
      .flatMap(({ publicTemplates }) => publicTemplates)
      .toSorted(compareTemplates));
  }

  /** Up to `count` resources whose public URI comes after `uri`, in order; only those of `server`, if given. */
  *after(uri: string, count: number, server?: string): Iterable<PublicResource> {
    if (count <= 0) return;
    const parts = this.parts.filter((part) => server === undefined || part.server === server);
    const runs = parts.flatMap((part) => part.runs);
    let yielded = 0;
    for (const resource of mergeRuns(runs, uri)) {
      yield this.byServer.get(resource.server)!.toPublic(resource);
      if (++yielded >= count) return;
    }
  }

  get servers(): readonly string[] {
    return this.parts.map(({ server }) => server);
  }

  /** Whether a server lists a resource that matches, or has a template whose instances may match. */
  hasMatching(server: string, pattern: ResourcePattern): boolean {
    const part = this.byServer.get(server);
    if (!part) return false;
    for (const { uri } of part.list.startingWith(pattern.prefix)) if (pattern.matches(uri)) return true;
    return part.templateIndex.hasLiteralStartingWith(pattern.prefix);
  }

  /** The resource as this view lists it; undefined if its server no longer lists it. */
  toPublic({ server, uri }: Resource): PublicResource | undefined {
    const part = this.byServer.get(server);
    const resource = part?.list.find(uri);
    return resource && part!.toPublic(resource);
  }

  /** Resolves a URI in any form. Undefined when it is unknown or ambiguous. */
  find(text: string): ResolvedResource | undefined {
    for (const found of this.candidates(text)) if (found.length > 0) return onlyItem(found);
    return undefined;
  }

  /**
   * Resolves a URI template in any form: the public form first, then resource form and identifier, then the own form.
   */
  findTemplate(text: string): ResourceTemplate | undefined {
    const form = parseResourceForm(text);
    const byForm = form && this.byServer.get(form.server)?.templateIndex.findByUri(form.uri);
    const byId = this.parts.flatMap(({ templateIndex }) => templateIndex.findById(text) ?? []);
    const byUri = this.parts.flatMap(({ templateIndex }) => templateIndex.findByUri(text) ?? []);
    const withServerId = [...(byForm ? [byForm] : []), ...byId];
    const isPublic = (template: ResourceTemplate): boolean =>
      this.byServer.get(template.server)!.publicTemplate(template).uriTemplate === text;
    return (
      [...withServerId, ...byUri].find(isPublic) ??
      withServerId[0] ??
      onlyItem(byUri.filter(({ server }) => this.mayLeadTo(server, text)))
    );
  }

  /**
   * The server and own URI of what a client subscribes to: a resource, a template, or a prefix (`…*`). A listed
   * resource comes before a prefix, even if its URI ends in `*`. A URI template comes before a listed resource with the
   * same URI.
   */
  findSubscribable(text: string): SubscribableAddress | undefined {
    const found = this.find(text);
    if (found)
      return this.isResourceOnly(found) ? exactAddress(found) : { server: found.server, uri: found.uri };
    const template = this.findTemplate(text);
    if (template) return { server: template.server, uri: template.uriTemplate };
    return text.endsWith('*') ? this.findPrefix(text) : undefined;
  }

  private *sortLists(): Steps {
    yield* this.context.findServers();
    const templates: PublicTemplate[] = [];
    for (const part of this.parts) {
      yield;
      yield* part.prepare();
      for (const template of part.publicTemplates) templates.push(template);
    }
    this.sortedTemplates ??= yield* sortSteps(templates, compareTemplates);
    this.isPrepared = true;
  }

  /** Whether the URI belongs to a listed resource, and is not also a URI template of the same server. */
  private isResourceOnly({ server, uri, resource }: ResolvedResource): boolean {
    if (!resource) return false;
    if (!uri.includes('{')) return true;
    return this.byServer.get(server)!.templateIndex.findByUri(uri) === undefined;
  }

  /**
   * Resolves a prefix (`…*`). If it has the resource form, it leads to the server in that form, if this server has
   * matching resources. Otherwise exactly one server must have matching resources.
   */
  private findPrefix(text: string): ResourceAddress | undefined {
    const form = parseResourceForm(text);
    if (form && this.hasMatching(form.server, patternOf(form.uri)!)) return form;
    const matching = this.servers.filter(
      (server) => this.mayLeadTo(server, text) && this.hasMatching(server, patternOf(text)!),
    );
    return matching.length === 1 ? { server: matching[0]!, uri: text } : undefined;
  }

  /**
   * Yields the candidates for each form, in order of precedence: forms that contain the server id, listed own URIs,
   * instances of templates. A text with a server id leads to no other server, so that no server can take over the names
   * of another.
   */
  private *candidates(text: string): Iterable<readonly ResolvedResource[]> {
    const owners = uriOwners(text, this.context.servers);
    const parts =
      owners.length === 0 ? this.parts : this.parts.filter(({ server }) => owners.includes(server));
    yield this.findResourceForm(text);
    yield parts.flatMap((part) => part.findId(text) ?? []);
    yield parts.flatMap((part) => part.findConflictingId(text) ?? []);
    yield parts.flatMap((part) => part.findListed(text) ?? []);
    yield instances(
      parts.filter((part) => part.mayHaveId(text)),
      text,
      'id',
    );
    yield instances(parts, text, 'uri');
  }

  /** Whether the text may be an own URI of the server. False if it belongs to other servers only (`uriOwners`). */
  private mayLeadTo(server: string, text: string): boolean {
    const owners = uriOwners(text, this.context.servers);
    return owners.length === 0 || owners.includes(server);
  }

  private findResourceForm(text: string): readonly ResolvedResource[] {
    const address = parseResourceForm(text);
    const found = address && this.byServer.get(address.server)?.find(address.uri);
    return found ? [found] : [];
  }
}

const instances = (parts: readonly ServerResources[], text: string, form: 'uri' | 'id'): ResolvedResource[] =>
  bestInstances(
    parts.map(({ templateIndex }) => templateIndex),
    text,
    form,
  ).map(({ template, uri }) => ({ server: template.server, uri, template }));

/** The item of a list with exactly one item; undefined for any other list. */
const onlyItem = <Item>(items: readonly Item[]): Item | undefined =>
  items.length === 1 ? items[0] : undefined;

function* mapped<Item>(items: Iterable<Item>, toPageItem: (item: Item) => PageItem): Iterable<PageItem> {
  for (const item of items) yield toPageItem(item);
}

const resourceItem = (resource: PublicResource): PageItem => ({
  key: resource.uri,
  text: resourceText(resource),
});

const templateItem = (template: PublicTemplate): PageItem => ({
  key: template.uriTemplate,
  text: templateText(template),
});
