import { runAtOnce, type Steps } from '../../lib/slices/run-sliced.js';
import { sortSteps } from '../../lib/slices/sliced-sort.js';
import type { SortedRun } from '../../lib/sorted/merge-runs.js';
import type { PublicResource, PublicTemplate } from './public-resource.js';
import type { PossibleConflicts, ResourceOffer } from './conflicts/resource-conflicts.js';
import type { Resource, ResourceList } from './resource-list.js';
import { publicUriTemplate, type ResourceTemplate } from './resource-template.js';
import { bestInstances } from './template-matches.js';
import { TemplateIndex } from './template-index.js';
import { distinctId, isUi, resourceForm, withoutDigest, type ResourceStyle } from './resource-uri.js';

/** The resource to which a requested URI leads. */
export interface ResolvedResource {
  readonly server: string;
  /** The server's own URI. */
  readonly uri: string;
  /** The listed resource; absent for an instance of a template. */
  readonly resource?: Resource;
  readonly template?: ResourceTemplate;
}

/** The conflicts between the names of one server and other names in one scope. */
export interface ScopedConflicts {
  isConflictingUri(uri: string): boolean;
  isConflictingId(id: string): boolean;
  isConflictingTemplate(uriTemplate: string): boolean;
  /** The templates of the server, with a digest in the identifiers that conflict. */
  readonly templates: readonly ResourceTemplate[];
}

const STEPS_BETWEEN_YIELDS = 256;

/**
 * The resources and templates of one server with their public URIs and identifiers in one scope. Immutable. The forms
 * of URIs and identifiers are defined in `resource-uri.ts`.
 */
export class ServerResources {
  readonly server: string;
  readonly list: ResourceList;
  private sortedRuns: readonly SortedRun<Resource>[] | undefined;

  private constructor(
    readonly offer: ResourceOffer,
    private readonly style: ResourceStyle,
    readonly possibleConflicts: PossibleConflicts,
    private readonly sortedResources: SortedResources,
    /** Absent in a scope without conflicts. */
    private readonly conflicts: ScopedConflicts | undefined,
    private index: TemplateIndex | undefined,
  ) {
    this.server = offer.server;
    this.list = offer.resources;
  }

  static *build(
    offer: ResourceOffer,
    style: ResourceStyle,
    possibleConflicts: PossibleConflicts,
  ): Steps<ServerResources> {
    const sorted = yield* sortResources(offer.resources, style, possibleConflicts);
    const index = yield* TemplateIndex.build(offer.templates, offer.onMatchLimit);
    return new ServerResources(offer, style, possibleConflicts, sorted, undefined, index);
  }

  /** The same resources and templates in a scope with these conflicts. */
  inScope(conflicts: ScopedConflicts): ServerResources {
    const { offer, style, possibleConflicts, sortedResources, index } = this;
    const hasSameTemplates = conflicts.templates === offer.templates;
    return new ServerResources(
      offer,
      style,
      possibleConflicts,
      sortedResources,
      conflicts,
      hasSameTemplates ? index : undefined,
    );
  }

  get templates(): readonly ResourceTemplate[] {
    return this.conflicts?.templates ?? this.offer.templates;
  }

  get publicTemplates(): readonly PublicTemplate[] {
    return this.templates.map((template) => this.publicTemplate(template));
  }

  publicTemplate(template: ResourceTemplate): PublicTemplate {
    const isConflicting = this.conflicts?.isConflictingTemplate(template.uriTemplate) ?? false;
    return { uriTemplate: publicUriTemplate(template, this.style, isConflicting), template };
  }

  /** A new index is built only for a scope in which identifiers of templates conflict. */
  get templateIndex(): TemplateIndex {
    return (this.index ??= runAtOnce(TemplateIndex.build(this.templates, this.offer.onMatchLimit)));
  }

  get isEmpty(): boolean {
    return this.list.size === 0 && this.offer.templates.length === 0;
  }

  /** Finds by own URI. A listed resource has precedence over an instance of a template. */
  find(uri: string): ResolvedResource | undefined {
    return this.findListed(uri) ?? this.findInstance(uri);
  }

  findListed(uri: string): ResolvedResource | undefined {
    return this.resolved(this.list.find(uri));
  }

  findInstance(uri: string): ResolvedResource | undefined {
    const [instance] = bestInstances([this.templateIndex], uri, 'uri');
    return instance && { server: this.server, uri, template: instance.template };
  }

  /** Whether the identifier starts with the id of this server. It may still belong to a server with a longer id. */
  mayHaveId(id: string): boolean {
    return id.startsWith(`${this.server}_`);
  }

  /** Finds a resource by the identifier that it has in this scope, with a digest if it conflicts. */
  findId(id: string): ResolvedResource | undefined {
    if (!this.mayHaveId(id)) return undefined;
    const resource = this.list.findId(id) ?? this.list.findId(withoutDigest(id));
    return this.resolved(resource && this.idOf(resource) === id ? resource : undefined);
  }

  /**
   * Finds a resource by its identifier without a digest, even if the scope lists it with a digest because of a
   * conflict.
   */
  findConflictingId(id: string): ResolvedResource | undefined {
    return this.resolved(this.mayHaveId(id) ? this.list.findId(id) : undefined);
  }

  /** Whether the text is the identifier of a listed resource, or the resource form of a resource or of an instance. */
  isName(text: string): boolean {
    const prefix = resourceForm({ server: this.server, uri: '' });
    if (text.startsWith(prefix)) return this.find(text.slice(prefix.length)) !== undefined;
    return [text, withoutDigest(text)].some((id) => this.list.findId(id));
  }

  /** The list, divided into runs. Each run is sorted by public URI. */
  get runs(): readonly SortedRun<Resource>[] {
    return (this.sortedRuns ??= runAtOnce(this.sortRuns()));
  }

  /** Sorts the list in steps. If `prepare` has not run, `runs` sorts the list at once. */
  *prepare(): Steps {
    this.sortedRuns ??= yield* this.sortRuns();
  }

  toPublic(resource: Resource): PublicResource {
    return { uri: this.publicUri(resource), id: this.idOf(resource), resource };
  }

  publicUri(resource: Resource): string {
    const { uri } = resource;
    if (this.style === 'resource' || isUi(uri)) return resourceForm(resource);
    if (this.style === 'underscore') return this.idOf(resource);
    return this.conflicts?.isConflictingUri(uri) ? resourceForm(resource) : uri;
  }

  /** The identifier of an instance of a template: the template's identifier with the values of the instance. */
  instanceId(uri: string): string | undefined {
    const template = this.findInstance(uri)?.template;
    const values = template?.matcher.match(uri);
    return values && template?.idMatcher?.fill(values);
  }

  private *sortRuns(): Steps<readonly SortedRun<Resource>[]> {
    const { scopeIndependent, scopeDependent } = this.sortedResources;
    const keyOf = (resource: Resource): string => this.publicUri(resource);
    const isRenamed = (resource: Resource): boolean =>
      this.style === 'original'
        ? (this.conflicts?.isConflictingUri(resource.uri) ?? false)
        : this.idOf(resource) !== resource.id;
    const notRenamed: Resource[] = [];
    const renamed: { readonly resource: Resource; readonly uri: string }[] = [];
    for (const [index, resource] of scopeDependent.entries()) {
      if ((index + 1) % STEPS_BETWEEN_YIELDS === 0) yield;
      if (isRenamed(resource)) renamed.push({ resource, uri: this.publicUri(resource) });
      else notRenamed.push(resource);
    }
    const sorted = yield* sortSteps(renamed, (a, b) => (a.uri < b.uri ? -1 : 1));
    return [scopeIndependent, notRenamed, sorted.map(({ resource }) => resource), this.list.uis]
      .filter((items) => items.length > 0)
      .map((items) => ({ items, keyOf }));
  }

  private idOf(resource: Resource): string {
    return this.conflicts?.isConflictingId(resource.id) ? distinctId(resource) : resource.id;
  }

  private resolved(resource: Resource | undefined): ResolvedResource | undefined {
    return resource && { server: this.server, uri: resource.uri, resource };
  }
}

/**
 * The resources of a list except user interfaces, in two arrays. Each array is sorted by default URI: the public URI in
 * a scope without conflicts.
 */
interface SortedResources {
  /** Resources that have their default URI in every scope. */
  readonly scopeIndependent: readonly Resource[];
  /** Resources that have another URI in scopes with a conflict. */
  readonly scopeDependent: readonly Resource[];
}

function* sortResources(
  list: ResourceList,
  style: ResourceStyle,
  conflicts: PossibleConflicts,
): Steps<SortedResources> {
  const sorted = style === 'underscore' ? list.plainById : list.plain;
  const mayConflict = conflictTest(style, conflicts);
  if (!mayConflict) return { scopeIndependent: sorted, scopeDependent: [] };
  const scopeIndependent: Resource[] = [];
  const scopeDependent: Resource[] = [];
  let step = 0;
  for (const resource of sorted) {
    if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
    if (mayConflict(resource)) scopeDependent.push(resource);
    else scopeIndependent.push(resource);
  }
  return { scopeIndependent, scopeDependent };
}

/** Returns a function that tests whether a resource may conflict with others; undefined if no resource may. */
function conflictTest(
  style: ResourceStyle,
  { sharedUris, formLikeUris, sharedIds }: PossibleConflicts,
): ((resource: Resource) => boolean) | undefined {
  if (style === 'original' && sharedUris.size + formLikeUris.size > 0)
    return ({ uri }) => sharedUris.has(uri) || formLikeUris.has(uri);
  const idSets = [...sharedIds.values()];
  if (style === 'underscore' && idSets.length > 0) return ({ id }) => idSets.some((ids) => ids.has(id));
  return undefined;
}
