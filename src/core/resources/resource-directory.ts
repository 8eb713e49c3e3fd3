import { PageCache } from '../catalog/list-page.js';
import { EVERYTHING, type Scope } from '../scope.js';
import { isUi, resourceForm, type ResourceAddress, type ResourceStyle } from './resource-uri.js';
import { ResourceView } from './resource-view.js';
import type { ResourceOffer } from './conflicts/resource-conflicts.js';
import type { ServerResources } from './server-resources.js';

/** All resources and templates of all servers under their public names. Immutable. */
export class ResourceDirectory {
  private readonly views = new Map<string, ResourceView>();
  private readonly byServer: ReadonlyMap<string, ServerResources>;
  private readonly pages = new PageCache();

  constructor(
    private readonly parts: readonly ServerResources[],
    private readonly style: ResourceStyle,
  ) {
    this.byServer = new Map(parts.map((part) => [part.server, part]));
  }

  static readonly EMPTY = new ResourceDirectory([], 'resource');

  /** The same directory when it has exactly these parts, so that its pages stay. */
  withParts(parts: readonly ServerResources[]): ResourceDirectory {
    const isSame =
      parts.length === this.parts.length && parts.every((part, index) => part === this.parts[index]);
    return isSame ? this : new ResourceDirectory(parts, this.style);
  }

  /** The directory of some of the servers. */
  only(isIncluded: (server: string) => boolean): ResourceDirectory {
    return this.withParts(this.parts.filter(({ server }) => isIncluded(server)));
  }

  offerOf(server: string): ResourceOffer | undefined {
    return this.byServer.get(server)?.offer;
  }

  /** The resources that a scope sees. Created once per scope key. */
  view(scope: Scope): ResourceView {
    let view = this.views.get(scope.key);
    if (!view) {
      view = new ResourceView(
        this.parts.filter(({ server }) => scope.allows(server)),
        (key, build) => this.pages.get(`${scope.key}\0${key}`, build),
      );
      this.views.set(scope.key, view);
    }
    return view;
  }

  /** The servers whose resources or templates differ between the two directories. */
  changedServers(previous: ResourceDirectory): Set<string> {
    if (previous === this) return new Set();
    const differs = (server: string): boolean => {
      const [old, now] = [previous.byServer.get(server), this.byServer.get(server)];
      return old !== now && (hasContents(old) || hasContents(now));
    };
    return new Set([...previous.byServer.keys(), ...this.byServer.keys()].filter(differs));
  }

  /** Whether two scopes see different lists. */
  differs(a: Scope, b: Scope): boolean {
    return this.parts.some((part) => !part.isEmpty && a.allows(part.server) !== b.allows(part.server));
  }

  isListed({ server, uri }: ResourceAddress): boolean {
    return this.byServer.get(server)?.list.find(uri) !== undefined;
  }

  /**
   * The public URI in the configured style. For an unlisted resource it is the resource form, which can always be
   * resolved, unless the URI in the configured style resolves to the resource.
   */
  publicUri(address: ResourceAddress): string {
    const { server, uri } = address;
    const part = this.byServer.get(server);
    if (!part || this.style === 'resource' || isUi(uri)) return resourceForm(address);
    const resource = part.list.find(uri);
    if (resource) return part.publicUri(resource);
    const name = this.style === 'underscore' ? part.instanceId(uri) : uri;
    const found = name === undefined ? undefined : this.view(EVERYTHING).find(name);
    return found?.server === server && found.uri === uri ? name! : resourceForm(address);
  }
}

const hasContents = (part: ServerResources | undefined): boolean => part !== undefined && !part.isEmpty;
