import type { Resource, ResourceList } from './resource-list.js';
import { bestInstance, publicTemplate, type ResourceTemplate } from './resource-template.js';
import { isUi, resourceForm, type ResourceStyle } from './resource-uri.js';

/** What a server lists that another one lists under the same URI. */
export interface Contested {
  readonly uris: ReadonlySet<string>;
  readonly templates: ReadonlySet<string>;
}

/** A sorted part of the list, with the way from each resource in it to its public URI. */
export interface Segment {
  readonly resources: readonly Resource[];
  uriOf(resource: Resource): string;
}

/** A resource that was asked for, and where it is. */
export interface FoundResource {
  readonly server: string;
  /** What the server calls it. */
  readonly uri: string;
  /** As it is listed; absent when it is an instance of a template. */
  readonly resource?: Resource;
  readonly template?: ResourceTemplate;
}

/** What one server has, under one style of naming. */
export class ServerResources {
  private ownSegments: readonly Segment[] | undefined;

  constructor(
    readonly server: string,
    readonly list: ResourceList,
    readonly templates: readonly ResourceTemplate[],
    private readonly style: ResourceStyle,
    private readonly contested: Contested,
  ) {}

  get isEmpty(): boolean {
    return this.list.size === 0 && this.templates.length === 0;
  }

  /** By the server's own URI. What is listed wins over what only fits a template. */
  find(uri: string): FoundResource | undefined {
    return this.findListed(uri) ?? this.findInstance(uri);
  }

  findListed(uri: string): FoundResource | undefined {
    const resource = this.list.find(uri);
    return resource && { server: this.server, uri, resource };
  }

  findInstance(uri: string): FoundResource | undefined {
    const instance = uri === '' ? undefined : bestInstance(this.templates, uri, 'uri');
    return instance && { server: this.server, uri, template: instance.template };
  }

  /** An identifier begins with its server, but one server's name may begin another's. */
  mayHaveId(id: string): boolean {
    return id.startsWith(`${this.server}_`);
  }

  findId(id: string): FoundResource | undefined {
    const resource = this.mayHaveId(id) ? this.list.findId(id) : undefined;
    return resource && { server: this.server, uri: resource.uri, resource };
  }

  /** The list, in parts that are each sorted by public URI. */
  get segments(): readonly Segment[] {
    return (this.ownSegments ??= this.cut().filter(({ resources }) => resources.length > 0));
  }

  publicUri(resource: Resource): string {
    const { uri, id } = resource;
    if (this.style === 'resource' || isUi(uri)) return resourceForm(resource);
    if (this.style === 'underscore') return id;
    return this.contested.uris.has(uri) ? resourceForm(resource) : uri;
  }

  publicTemplate(template: ResourceTemplate): string {
    return publicTemplate(template, this.style, this.contested.templates.has(template.uriTemplate));
  }

  /** Whether nothing of it would be listed otherwise. */
  isSame(list: ResourceList, templates: readonly ResourceTemplate[], contested: Contested): boolean {
    return (
      this.list === list &&
      this.templates === templates &&
      sameSet(this.contested.uris, contested.uris) &&
      sameSet(this.contested.templates, contested.templates)
    );
  }

  private cut(): Segment[] {
    const { list, contested } = this;
    const uis = this.segment(list.uis);
    if (this.style === 'resource') return [this.segment(list.plain), uis];
    if (this.style === 'underscore') return [this.segment(list.plainById), uis];
    if (contested.uris.size === 0) return [this.segment(list.plain), uis];
    return [
      this.segment(list.plain.filter(({ uri }) => !contested.uris.has(uri))),
      this.segment(list.plain.filter(({ uri }) => contested.uris.has(uri))),
      uis,
    ];
  }

  private segment(resources: readonly Resource[]): Segment {
    return { resources, uriOf: (resource) => this.publicUri(resource) };
  }
}

const sameSet = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((item) => b.has(item));
