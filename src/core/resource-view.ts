import type { JsonText } from './json-text.js';
import { firstAfter, pageText, type Paged, type PageItem, type Seal } from './list-page.js';
import { ID_MARK, publicText, SERVER_MARK } from './public-text.js';
import type { Resource } from './resource-list.js';
import type { ResourcePattern } from './resource-pattern.js';
import { bestInstance, type ResourceTemplate } from './resource-template.js';
import { cutResourceForm, type ResourceStyle } from './resource-uri.js';
import type { FoundResource, Segment, ServerResources } from './server-resources.js';

/** A resource as one scope sees it. */
export interface SeenResource {
  /** What clients call it. */
  readonly uri: string;
  readonly resource: Resource;
}

export interface SeenTemplate {
  readonly uriTemplate: string;
  readonly template: ResourceTemplate;
}

/** The resources and templates that one scope sees. */
export class ResourceView {
  private readonly byServer: ReadonlyMap<string, ServerResources>;
  private ownTemplates: readonly SeenTemplate[] | undefined;

  constructor(
    private readonly parts: readonly ServerResources[],
    private readonly style: ResourceStyle,
    /** Built once for all who see the same. */
    private readonly built: (key: string, build: () => JsonText) => JsonText,
  ) {
    this.byServer = new Map(parts.map((part) => [part.server, part]));
  }

  /** How many resources there are, of one server or of all. */
  sizeOf(server?: string): number {
    if (server !== undefined) return this.byServer.get(server)?.list.size ?? 0;
    return this.parts.reduce((sum, { list }) => sum + list.size, 0);
  }

  readonly resources: Paged = {
    page: (member, after, size, seal) =>
      this.built(`${member}\0${after}`, () => {
        const seen = [...this.after(after, size + 1)];
        return page(member, seen.map(resourceItem), size, seal);
      }),
  };

  readonly templates: Paged = {
    page: (member, after, size, seal) =>
      this.built(`${member}\0${after}`, () => {
        const from = after === '' ? 0 : firstAfter(this.listedTemplates, after, (seen) => seen.uriTemplate);
        const seen = this.listedTemplates.slice(from, from + size + 1);
        return page(member, seen.map(templateItem), size, seal);
      }),
  };

  /** Sorted by what clients see. */
  get listedTemplates(): readonly SeenTemplate[] {
    return (this.ownTemplates ??= this.parts
      .flatMap((part) =>
        part.templates.map((template) => {
          return { uriTemplate: part.publicTemplate(template), template };
        }),
      )
      .toSorted((a, b) => (a.uriTemplate < b.uriTemplate ? -1 : 1)));
  }

  /** Up to so many resources whose public URI comes after this one, in order; of one server, if one is named. */
  *after(uri: string, most: number, server?: string): Iterable<SeenResource> {
    const heads = this.parts
      .filter((part) => server === undefined || part.server === server)
      .flatMap(({ segments }) => segments.flatMap((segment) => Head.after(segment, uri) ?? []))
      .toSorted(byUri);
    for (let given = 0; given < most && heads.length > 0; given++) {
      const head = heads[0]!;
      yield { uri: head.uri, resource: head.resource };
      if (!head.advance()) heads.shift();
      else settle(heads);
    }
  }

  get servers(): readonly string[] {
    return this.parts.map(({ server }) => server);
  }

  /** Whether a server lists something that fits, or has a template whose instances may. */
  hasMatching(server: string, pattern: ResourcePattern): boolean {
    const part = this.byServer.get(server);
    if (!part) return false;
    for (const { uri } of part.list.startingWith(pattern.prefix)) if (pattern.matches(uri)) return true;
    return part.templates.some(({ matcher }) => matcher.literals[0]!.startsWith(pattern.prefix));
  }

  /** What clients call a resource, in the form of the lists. */
  publicUri(resource: Resource): string {
    return this.byServer.get(resource.server)!.publicUri(resource);
  }

  /** What a client means by a URI, in whatever form. */
  find(text: string): FoundResource | undefined {
    const own = this.style === 'original' ? this.findListed(text) : undefined;
    return (
      own ??
      this.findForm(text) ??
      this.findListed(text) ??
      this.findId(text) ??
      this.findInstance(text, 'uri') ??
      this.findInstance(text, 'id')
    );
  }

  /** The template that a client names, in whatever form. */
  findTemplate(text: string): ResourceTemplate | undefined {
    const named = (template: ResourceTemplate): boolean => {
      const form = cutResourceForm(text);
      return template.id === text || (form?.server === template.server && form.uri === template.uriTemplate);
    };
    return (
      this.listedTemplates.find(({ uriTemplate }) => uriTemplate === text)?.template ??
      this.listedTemplates.find(({ template }) => named(template))?.template ??
      only(this.listedTemplates.filter(({ template }) => template.uriTemplate === text))?.template
    );
  }

  private findForm(text: string): FoundResource | undefined {
    const address = cutResourceForm(text);
    return address && this.byServer.get(address.server)?.find(address.uri);
  }

  /** By a server's own URI; undefined also when two servers have it. */
  private findListed(uri: string): FoundResource | undefined {
    return only(this.parts.flatMap((part) => part.findListed(uri) ?? []));
  }

  private findId(id: string): FoundResource | undefined {
    return only(this.parts.flatMap((part) => part.findId(id) ?? []));
  }

  private findInstance(text: string, form: 'uri' | 'id'): FoundResource | undefined {
    const parts = form === 'id' ? this.parts.filter((part) => part.mayHaveId(text)) : this.parts;
    const templates = parts.flatMap((part) => part.templates);
    const instance = text === '' ? undefined : bestInstance(templates, text, form);
    if (!instance) return undefined;
    const { template, uri } = instance;
    return { server: template.server, uri, template };
  }
}

/** The next resource of a segment that has not been given yet. */
class Head {
  private constructor(
    readonly segment: Segment,
    private index: number,
    public uri: string,
  ) {}

  static after(segment: Segment, uri: string): Head | undefined {
    const { resources } = segment;
    const index = uri === '' ? 0 : firstAfter(resources, uri, (resource) => segment.uriOf(resource));
    return index < resources.length ? new Head(segment, index, segment.uriOf(resources[index]!)) : undefined;
  }

  get resource(): Resource {
    return this.segment.resources[this.index]!;
  }

  advance(): boolean {
    const next = this.segment.resources[++this.index];
    if (!next) return false;
    this.uri = this.segment.uriOf(next);
    return true;
  }
}

/** Puts the first head, which has moved on, where it belongs among the others. */
function settle(heads: Head[]): void {
  if (heads.length < 2 || heads[0]!.uri < heads[1]!.uri) return;
  const head = heads.shift()!;
  heads.splice(
    firstAfter(heads, head.uri, ({ uri }) => uri),
    0,
    head,
  );
}

const byUri = (a: Head, b: Head): number => (a.uri < b.uri ? -1 : 1);

const only = <Item>(items: readonly Item[]): Item | undefined => (items.length === 1 ? items[0] : undefined);

function page(member: string, items: readonly PageItem[], size: number, seal: Seal): JsonText {
  return pageText(member, items.slice(0, size), items.length > size, seal);
}

/** The resource as clients see it. */
export const resourceText = ({ uri, resource: { server, id, text } }: SeenResource): string =>
  publicText(text, 'uri', uri, { [SERVER_MARK]: server, [ID_MARK]: id });

export const templateText = ({ uriTemplate, template: { server, id, text } }: SeenTemplate): string =>
  publicText(text, 'uriTemplate', uriTemplate, { [SERVER_MARK]: server, [ID_MARK]: id });

const resourceItem = (seen: SeenResource): PageItem => ({ key: seen.uri, text: resourceText(seen) });

const templateItem = (seen: SeenTemplate): PageItem => ({
  key: seen.uriTemplate,
  text: templateText(seen),
});
