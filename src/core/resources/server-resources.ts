import type { ConflictingNames } from './conflicting-names.js';
import { cutList, type ListCut } from './list-cut.js';
import type { Resource, ResourceList } from './resource-list.js';
import type { ResourceOffer } from './resource-offer.js';
import {
  bestInstances,
  publicUriTemplate,
  withDistinctId,
  type ResourceTemplate,
} from './resource-template.js';
import { distinctId, isUi, resourceForm, type ResourceStyle } from './resource-uri.js';
import { compareTemplates, type PublicResource, type PublicTemplate } from './public-resource.js';

/** A part of the list that is sorted by public URI. */
export interface SortedRun {
  readonly of: ServerResources;
  readonly resources: readonly Resource[];
}

/** A resource that was asked for, and where it is. */
export interface ResolvedResource {
  readonly server: string;
  /** What the server calls it. */
  readonly uri: string;
  /** As it is listed; absent when it is an instance of a template. */
  readonly resource?: Resource;
  readonly template?: ResourceTemplate;
}

/** What one server has, under one style of naming. */
export class ServerResources {
  readonly server: string;
  readonly list: ResourceList;
  readonly templates: readonly ResourceTemplate[];
  private ownSegments: readonly SortedRun[] | undefined;
  private ownCut: ListCut | undefined;
  private ownTemplates: readonly PublicTemplate[] | undefined;

  constructor(
    private readonly offer: ResourceOffer,
    private readonly style: ResourceStyle,
    private readonly contested: ConflictingNames,
  ) {
    this.server = offer.server;
    this.list = offer.resources;
    this.templates = offer.templates.map((template) =>
      contested.hasTemplateId(template.id) ? withDistinctId(template) : template,
    );
  }

  get isEmpty(): boolean {
    return this.list.size === 0 && this.templates.length === 0;
  }

  /** By the server's own URI. What is listed wins over what only fits a template. */
  find(uri: string): ResolvedResource | undefined {
    return this.findListed(uri) ?? this.findInstance(uri);
  }

  findListed(uri: string): ResolvedResource | undefined {
    return this.found(this.list.find(uri));
  }

  findInstance(uri: string): ResolvedResource | undefined {
    const [instance] = bestInstances(this.templates, uri, 'uri');
    return instance && { server: this.server, uri, template: instance.template };
  }

  /** An identifier begins with its server, but one server's name may begin another's. */
  mayHaveId(id: string): boolean {
    return id.startsWith(`${this.server}_`);
  }

  findId(id: string): ResolvedResource | undefined {
    if (!this.mayHaveId(id)) return undefined;
    const resource = this.list.findId(id) ?? this.list.findId(id.slice(0, id.lastIndexOf('~')));
    return this.found(resource && this.idOf(resource) === id ? resource : undefined);
  }

  /** By an identifier that is contested, which nobody has where all see it. */
  findConflictingId(id: string): ResolvedResource | undefined {
    return this.found(this.mayHaveId(id) ? this.list.findId(id) : undefined);
  }

  /** The list, in parts that are each sorted by public URI. */
  get runs(): readonly SortedRun[] {
    return (this.ownSegments ??= [this.cut.kept, this.cut.renamed, this.list.uis]
      .filter((resources) => resources.length > 0)
      .map((resources) => ({ of: this, resources })));
  }

  toPublic(resource: Resource): PublicResource {
    return { uri: this.publicUri(resource), id: this.idOf(resource), resource };
  }

  publicUri(resource: Resource): string {
    const { uri } = resource;
    if (this.style === 'resource' || isUi(uri)) return resourceForm(resource);
    if (this.style === 'underscore') return this.idOf(resource);
    return this.contested.hasUri(uri) ? resourceForm(resource) : uri;
  }

  /** Sorted by what clients see. Kept as long as the list is the same, since all servers together may have many. */
  get listedTemplates(): readonly PublicTemplate[] {
    return (this.ownTemplates ??= this.templates
      .map((template): PublicTemplate => {
        const isContested = this.contested.hasTemplate(template.uriTemplate);
        return { uriTemplate: publicUriTemplate(template, this.style, isContested), template };
      })
      .toSorted(compareTemplates));
  }

  /** What an instance of a template is called, in the words of the template's identifier. */
  instanceId(uri: string): string | undefined {
    const template = this.findInstance(uri)?.template;
    const parts = template?.matcher.match(uri);
    return parts && template?.idMatcher?.fill(parts);
  }

  /** Whether nothing of it would be listed otherwise. */
  isSame({ resources, templates }: ResourceOffer, contested: ConflictingNames): boolean {
    return (
      this.offer.resources === resources &&
      this.offer.templates === templates &&
      this.contested.isSame(contested)
    );
  }

  private idOf(resource: Resource): string {
    if (!this.contested.hasId(resource.id)) return resource.id;
    return this.cut.ids.get(resource) ?? distinctId(resource);
  }

  private found(resource: Resource | undefined): ResolvedResource | undefined {
    return resource && { server: this.server, uri: resource.uri, resource };
  }

  private get cut(): ListCut {
    return (this.ownCut ??= cutList(this.list, this.style, this.contested));
  }
}
