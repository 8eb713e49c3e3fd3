import { contestedUris } from './contested-uris.js';
import { PageCache } from './list-page.js';
import type { ResourceList } from './resource-list.js';
import type { ResourceTemplate } from './resource-template.js';
import { isUi, resourceForm, type Address, type ResourceStyle } from './resource-uri.js';
import { ResourceView } from './resource-view.js';
import { EVERYTHING, type Scope } from './scope.js';
import { ServerResources, type Contested } from './server-resources.js';

/** What one server offers. */
export interface ResourceOffer {
  readonly server: string;
  readonly resources: ResourceList;
  readonly templates: readonly ResourceTemplate[];
}

/**
 * All resources and templates of all servers: who is called what, and whose it is. Immutable; a change builds a new one
 * out of the parts that did not change, at a cost that does not depend on how many resources there are.
 */
export class ResourceDirectory {
  private readonly views = new Map<string, ResourceView>();
  private readonly byServer: ReadonlyMap<string, ServerResources>;
  private readonly pages = new PageCache();

  private constructor(
    private readonly parts: readonly ServerResources[],
    private readonly style: ResourceStyle,
  ) {
    this.byServer = new Map(parts.map((part) => [part.server, part]));
  }

  static readonly EMPTY = new ResourceDirectory([], 'resource');

  static build(
    offers: readonly ResourceOffer[],
    style: ResourceStyle,
    previous = ResourceDirectory.EMPTY,
  ): ResourceDirectory {
    const kept = previous.style === style ? previous.byServer : new Map<string, ServerResources>();
    const contested = style === 'original' ? contestedIn(offers) : undefined;
    const parts = offers.map(({ server, resources, templates }, index) => {
      const contests = contested?.[index] ?? NOT_CONTESTED;
      const old = kept.get(server);
      return old?.isSame(resources, templates, contests)
        ? old
        : new ServerResources(server, resources, templates, style, contests);
    });
    const isSame =
      style === previous.style &&
      parts.length === previous.parts.length &&
      parts.every((part, index) => part === previous.parts[index]);
    return isSame ? previous : new ResourceDirectory(parts, style);
  }

  /** What a scope sees; built once, kept as long as the directory lives. */
  view(scope: Scope): ResourceView {
    let view = this.views.get(scope.key);
    if (!view) {
      view = new ResourceView(
        this.parts.filter(({ server }) => scope.allows(server)),
        this.style,
        (key, build) => this.pages.get(`${scope.key}\0${key}`, build),
      );
      this.views.set(scope.key, view);
    }
    return view;
  }

  /** The servers whose part of the lists differs between the two. */
  changedServers(previous: ResourceDirectory): Set<string> {
    if (previous === this) return new Set();
    const differs = (server: string): boolean => {
      const [old, now] = [previous.byServer.get(server), this.byServer.get(server)];
      return old !== now && !((old?.isEmpty ?? true) && (now?.isEmpty ?? true));
    };
    return new Set([...previous.byServer.keys(), ...this.byServer.keys()].filter(differs));
  }

  /** Whether two scopes see different lists. */
  differs(a: Scope, b: Scope): boolean {
    return this.parts.some((part) => !part.isEmpty && a.allows(part.server) !== b.allows(part.server));
  }

  /**
   * What clients call what a server calls by this URI, in the form of the lists. What is in no list, and would not be
   * understood in that form, is called by the form that always is.
   */
  publicUri(address: Address): string {
    const { server, uri } = address;
    if (this.style === 'resource' || isUi(uri)) return resourceForm(address);
    const view = this.view(EVERYTHING);
    const resource = this.byServer.get(server)?.list.find(uri);
    if (resource) return view.publicUri(resource);
    const name = this.style === 'underscore' ? this.identifierOf(address) : uri;
    const found = name === undefined ? undefined : view.find(name);
    return found?.server === server && found.uri === uri ? name! : resourceForm(address);
  }

  /** What an instance of a template is called, in the words of the template's identifier. */
  private identifierOf({ server, uri }: Address): string | undefined {
    const template = this.byServer.get(server)?.findInstance(uri)?.template;
    const parts = template?.matcher.match(uri);
    return parts && template?.idMatcher?.fill(parts);
  }
}

const NOT_CONTESTED: Contested = { uris: new Set(), templates: new Set() };

function contestedIn(offers: readonly ResourceOffer[]): Contested[] {
  const uris = contestedUris(offers.map(({ resources }) => resources));
  const claims = new Map<string, number>();
  for (const { templates } of offers)
    for (const { uriTemplate } of templates) claims.set(uriTemplate, (claims.get(uriTemplate) ?? 0) + 1);
  return offers.map(({ templates }, index) => ({
    uris: uris[index]!,
    templates: new Set(
      templates.flatMap(({ uriTemplate }) => (claims.get(uriTemplate)! > 1 ? [uriTemplate] : [])),
    ),
  }));
}
