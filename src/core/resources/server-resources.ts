import type { Steps } from '../../lib/slices/run-sliced.js';
import { sortSteps } from '../../lib/slices/sliced-sort.js';
import type { SortedRun } from '../../lib/sorted/merge-runs.js';
import { compareTemplates, type PublicResource, type PublicTemplate } from './public-resource.js';
import type { ConflictingNames, ResourceOffer } from './conflicts/resource-conflicts.js';
import type { Resource, ResourceList } from './resource-list.js';
import {
  bestInstances,
  publicUriTemplate,
  withDistinctId,
  type ResourceTemplate,
} from './resource-template.js';
import { distinctId, isUi, resourceForm, withoutDigest, type ResourceStyle } from './resource-uri.js';

/** A requested resource, with its server and own URI. */
export interface ResolvedResource {
  readonly server: string;
  /** The server's own URI. */
  readonly uri: string;
  /** The listed resource; absent for an instance of a template. */
  readonly resource?: Resource;
  readonly template?: ResourceTemplate;
}

const STEPS_BETWEEN_YIELDS = 256;

/** The resources and templates of one server under their public names. Immutable. */
export class ServerResources {
  readonly server: string;
  readonly list: ResourceList;

  private constructor(
    readonly offer: ResourceOffer,
    private readonly style: ResourceStyle,
    private readonly conflicts: ConflictingNames,
    readonly templates: readonly ResourceTemplate[],
    /** Sorted by public form. */
    readonly listedTemplates: readonly PublicTemplate[],
    private readonly sorted: SortedResources,
  ) {
    this.server = offer.server;
    this.list = offer.resources;
  }

  static *build(
    offer: ResourceOffer,
    style: ResourceStyle,
    conflicts: ConflictingNames,
  ): Steps<ServerResources> {
    const { uriTemplates, templateIds } = conflicts;
    const templates: ResourceTemplate[] = [];
    const publicTemplates: PublicTemplate[] = [];
    for (const each of offer.templates) {
      if (templates.length % STEPS_BETWEEN_YIELDS === STEPS_BETWEEN_YIELDS - 1) yield;
      const template = templateIds.has(each.id) ? withDistinctId(each) : each;
      const uriTemplate = publicUriTemplate(template, style, uriTemplates.has(template.uriTemplate));
      templates.push(template);
      publicTemplates.push({ uriTemplate, template });
    }
    const listed = yield* sortSteps(publicTemplates, compareTemplates);
    const sorted = yield* sortResources(offer.resources, style, conflicts);
    return new ServerResources(offer, style, conflicts, templates, listed, sorted);
  }

  get isEmpty(): boolean {
    return this.list.size === 0 && this.templates.length === 0;
  }

  /** Finds by own URI. A listed resource has precedence over an instance of a template. */
  find(uri: string): ResolvedResource | undefined {
    return this.findListed(uri) ?? this.findInstance(uri);
  }

  findListed(uri: string): ResolvedResource | undefined {
    return this.resolved(this.list.find(uri));
  }

  findInstance(uri: string): ResolvedResource | undefined {
    const [instance] = bestInstances(this.templates, uri, 'uri');
    return instance && { server: this.server, uri, template: instance.template };
  }

  /** An identifier starts with the id of its server, but the id of one server can start with that of another. */
  mayHaveId(id: string): boolean {
    return id.startsWith(`${this.server}_`);
  }

  findId(id: string): ResolvedResource | undefined {
    if (!this.mayHaveId(id)) return undefined;
    const resource = this.list.findId(id) ?? this.list.findId(withoutDigest(id));
    return this.resolved(resource && this.idOf(resource) === id ? resource : undefined);
  }

  /** Finds a resource by its plain identifier, although it is listed with a digest because of a conflict. */
  findConflictingId(id: string): ResolvedResource | undefined {
    return this.resolved(this.mayHaveId(id) ? this.list.findId(id) : undefined);
  }

  /** The list, in parts that are each sorted by public URI. */
  get runs(): readonly SortedRun<Resource>[] {
    const keyOf = (resource: Resource): string => this.publicUri(resource);
    return [this.sorted.kept, this.sorted.renamed, this.list.uis]
      .filter((items) => items.length > 0)
      .map((items) => ({ items, keyOf }));
  }

  toPublic(resource: Resource): PublicResource {
    return { uri: this.publicUri(resource), id: this.idOf(resource), resource };
  }

  publicUri(resource: Resource): string {
    const { uri } = resource;
    if (this.style === 'resource' || isUi(uri)) return resourceForm(resource);
    if (this.style === 'underscore') return this.idOf(resource);
    return this.conflicts.uris.has(uri) ? resourceForm(resource) : uri;
  }

  /** The identifier of an instance of a template, made from the template's identifier. */
  instanceId(uri: string): string | undefined {
    const template = this.findInstance(uri)?.template;
    const parts = template?.matcher.match(uri);
    return parts && template?.idMatcher?.fill(parts);
  }

  private idOf(resource: Resource): string {
    if (!this.conflicts.ids.has(resource.id)) return resource.id;
    return this.sorted.distinctIds.get(resource) ?? distinctId(resource);
  }

  private resolved(resource: Resource | undefined): ResolvedResource | undefined {
    return resource && { server: this.server, uri: resource.uri, resource };
  }
}

/** The resources of a list without user interfaces, in two parts that are each sorted by public URI. */
interface SortedResources {
  /** Listed under the usual name of the style. */
  readonly kept: readonly Resource[];
  /** Listed under another name because of a conflict. */
  readonly renamed: readonly Resource[];
  /** Public URIs of the renamed resources in style `underscore`. */
  readonly distinctIds: ReadonlyMap<Resource, string>;
}

function* sortResources(
  list: ResourceList,
  style: ResourceStyle,
  conflicts: ConflictingNames,
): Steps<SortedResources> {
  const distinctIds = new Map<Resource, string>();
  const sorted = style === 'underscore' ? list.plainById : list.plain;
  const isRenamed = renamedTest(style, conflicts);
  if (!isRenamed) return { kept: sorted, renamed: [], distinctIds };
  const kept: Resource[] = [];
  const renamed: Resource[] = [];
  let step = 0;
  for (const resource of sorted) {
    if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
    (isRenamed(resource) ? renamed : kept).push(resource);
  }
  // In style `original` renamed resources are listed by their resource forms, which have the order of the URIs.
  if (style !== 'underscore') return { kept, renamed, distinctIds };
  for (const resource of renamed) {
    if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
    distinctIds.set(resource, distinctId(resource));
  }
  const compare = (a: Resource, b: Resource): number => (distinctIds.get(a)! < distinctIds.get(b)! ? -1 : 1);
  return { kept, renamed: yield* sortSteps(renamed, compare), distinctIds };
}

/** Returns the test for resources that are renamed, or undefined when no resource is renamed. */
function renamedTest(
  style: ResourceStyle,
  { uris, ids }: ConflictingNames,
): ((resource: Resource) => boolean) | undefined {
  if (style === 'original' && uris.size > 0) return ({ uri }) => uris.has(uri);
  if (style === 'underscore' && ids.size > 0) return ({ id }) => ids.has(id);
  return undefined;
}
