import { EVERYTHING, type Scope } from '../scope.js';
import { resourcesInScope } from './conflicts/scoped-conflicts.js';
import {
  isUi,
  resourceForm,
  underscoreId,
  type ResourceAddress,
  type ResourceStyle,
} from './resource-uri.js';
import { ResourceView } from './resource-view.js';
import type { ResourceOffer } from './conflicts/resource-conflicts.js';
import type { ServerResources } from './server-resources.js';

/**
 * All resources and templates of all servers. Immutable. Public URIs and identifiers depend on the scope: `view`
 * returns those of one scope.
 */
export class ResourceDirectory {
  /** By key of the scope. */
  private readonly views = new Map<string, ResourceView>();
  private readonly byServer: ReadonlyMap<string, ServerResources>;
  /** The configured servers, and those of the parts. */
  private readonly servers: ReadonlySet<string>;

  constructor(
    /** The resources of each server that has listed its resources, sorted by the rank of the server. */
    private readonly parts: readonly ServerResources[],
    private readonly style: ResourceStyle,
    private readonly configured: ReadonlySet<string> = new Set(),
  ) {
    this.byServer = new Map(parts.map((part) => [part.server, part]));
    this.servers = new Set([...configured, ...this.byServer.keys()]);
  }

  static readonly EMPTY = new ResourceDirectory([], 'resource');

  /** Returns this directory if it has exactly these parts already. Its views and their cached pages then remain in use. */
  withParts(parts: readonly ServerResources[]): ResourceDirectory {
    const isSame =
      parts.length === this.parts.length && parts.every((part, index) => part === this.parts[index]);
    return isSame ? this : new ResourceDirectory(parts, this.style, this.configured);
  }

  withServers(configured: ReadonlySet<string>): ResourceDirectory {
    return configured === this.configured ? this : new ResourceDirectory(this.parts, this.style, configured);
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
      const { servers, style } = this;
      const parts = this.parts.filter(({ server }) => scope.allows(server));
      const isComplete = parts.length === this.parts.length;
      const inScope = resourcesInScope({ parts, isComplete, servers, style });
      view = new ResourceView(inScope.parts, { scope, servers, findServers: inScope.findServers });
      this.views.set(scope.key, view);
    }
    return view;
  }

  /**
   * The servers whose resources or templates differ between the two directories. A scope that contains none of these
   * servers sees the same lists in both directories.
   */
  changedServers(previous: ResourceDirectory): Set<string> {
    if (previous === this) return new Set();
    const differs = (server: string): boolean => {
      const [old, now] = [previous.byServer.get(server), this.byServer.get(server)];
      const hasSameLists =
        old?.offer.resources === now?.offer.resources && old?.offer.templates === now?.offer.templates;
      return !hasSameLists && (hasContents(old) || hasContents(now));
    };
    const changed = new Set([...previous.byServer.keys(), ...this.byServer.keys()].filter(differs));
    for (const id of [...previous.servers, ...this.servers])
      if (previous.servers.has(id) !== this.servers.has(id))
        for (const server of this.serversWithUrisOf(id)) changed.add(server);
    return changed;
  }

  /** Whether two scopes see different lists. */
  differsBetween(a: Scope, b: Scope): boolean {
    return this.parts.some((part) => !part.isEmpty && a.allows(part.server) !== b.allows(part.server));
  }

  isListed({ server, uri }: ResourceAddress): boolean {
    return this.byServer.get(server)?.list.find(uri) !== undefined;
  }

  /**
   * The public URI of a resource in this scope. For an unlisted resource, this is its URI in the configured style if a
   * request with that URI finds the resource, otherwise its resource form. Before the server has listed anything, it is
   * the URI that the resource will have unless there is a conflict.
   */
  publicUri(address: ResourceAddress, scope: Scope = EVERYTHING): string {
    const { server, uri } = address;
    if (this.style === 'resource' || isUi(uri)) return resourceForm(address);
    const view = this.view(scope);
    const part = view.part(server);
    if (!part) return this.style === 'underscore' ? underscoreId(address) : uri;
    const resource = part.list.find(uri);
    if (resource) return part.publicUri(resource);
    const styledUri = this.style === 'underscore' ? part.instanceId(uri) : uri;
    const found = styledUri === undefined ? undefined : view.find(styledUri);
    return found?.server === server && found.uri === uri ? styledUri! : resourceForm(address);
  }

  /** The servers, except `id` itself, with own URIs that contain `id`, and so belong to that server (`uriOwners`). */
  private *serversWithUrisOf(id: string): Iterable<string> {
    for (const { server, possibleConflicts } of this.parts)
      if (server !== id && possibleConflicts.possibleOwners.has(id)) yield server;
  }
}

const hasContents = (part: ServerResources | undefined): boolean => part !== undefined && !part.isEmpty;
