import { PageCache } from '../catalog/list-page.js';
import { contestedNames, prepareContests } from './name-contests.js';
import type { ResourceOffer } from './resource-offer.js';
import { isUi, resourceForm, type ResourceAddress, type ResourceStyle } from './resource-uri.js';
import { ResourceView } from './resource-view.js';
import { EVERYTHING, type Scope } from '../scope.js';
import { ServerResources } from './server-resources.js';
import type { Yield, SlicedJob } from '../../lib/slices/slices.js';

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

  /** The work of finding out what `build` has to know, where that may take long; undefined where it does not. */
  static prepare(
    offers: readonly ResourceOffer[],
    style: ResourceStyle,
    yieldIfDue: Yield,
  ): SlicedJob | undefined {
    return prepareContests(offers, style, yieldIfDue);
  }

  static build(
    offers: readonly ResourceOffer[],
    style: ResourceStyle,
    previous = ResourceDirectory.EMPTY,
  ): ResourceDirectory {
    const kept = previous.style === style ? previous.byServer : new Map<string, ServerResources>();
    const contested = contestedNames(offers, style);
    const parts = offers.map((offer, index) => {
      const old = kept.get(offer.server);
      return old?.isSame(offer, contested[index]!)
        ? old
        : new ServerResources(offer, style, contested[index]!);
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

  /** Whether a server has it in its list. */
  isListed({ server, uri }: ResourceAddress): boolean {
    return this.byServer.get(server)?.list.find(uri) !== undefined;
  }

  /**
   * What clients call what a server calls by this URI, in the form of the lists. What is in no list, and would not be
   * understood in that form, is called by the form that always is.
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
