import { UNFETCHED_LISTING, LIST_KINDS, type Listing, type ListKind } from '../core/catalog/catalog.js';
import type { Scope } from '../core/scope.js';
import { completesWithin } from '../lib/deadlines/timeout.js';
import { ListenerSet, type Listener } from '../lib/listeners/listener-set.js';
import type { LinkOwner, McpContext } from '../mcp/mcp-context.js';
import type { Registry } from '../registry/registry.service.js';
import type { Backend } from './backend.js';
import type { Lists } from './listing/list-kinds.js';
import { isSameList, wasFetched } from './listing/list-deduplicator.js';

/**
 * How long a request waits for the first listing over the caller's own link. After that, it continues with the listing of
 * the shared link.
 */
export const SESSION_LISTING_WAIT_MS = 5000;
const KINDS: readonly (keyof Lists)[] = ['tools', 'prompts', 'resources', 'templates'];

/** The wait for the first listing of one link owner at one server. */
interface FirstListingWait {
  /** Resolves when the lists of the server were fetched, when the link could not be opened, or after the timeout. */
  readonly settled: Promise<void>;
  /** A time of `performance.now()`. */
  readonly startedAt: number;
  isPending: boolean;
}

class OwnerState {
  /** By server: the listing over the link of the owner. */
  readonly listings = new Map<string, Listing>();
  /** By server: the wait for its first listing. */
  readonly waits = new Map<string, FirstListingWait>();
  /** Whether the client has seen lists. Only such a client is notified when lists change. */
  hasSeenLists = false;
  /** The last update of the owner's catalog. Updates run one after the other. */
  update: Promise<void> = Promise.resolve();

  constructor(readonly owner: LinkOwner) {}
}

type OwnedRequest = Pick<McpContext, 'linkOwner'>;
type ScopedRequest = Pick<McpContext, 'linkOwner' | 'scope'>;

/**
 * The listings of link owners with links of their own (`isolation: session`): servers may list other tools, prompts and
 * resources for a client with other capabilities.
 */
export class SessionListings {
  /** By id of the link owner. */
  private readonly owners = new Map<string, OwnerState>();
  /** By server id: the backends with `isolation: session`. */
  private readonly isolatedBackends = new Map<string, Backend>();
  private readonly changeListeners = new ListenerSet<[owner: LinkOwner, kinds: readonly ListKind[]]>();

  constructor(
    private readonly registry: Registry,
    /** Called when an owner keeps the shared listing, because there are too many different listings. */
    private readonly onTooMany: () => void = () => {},
  ) {}

  /** Called when lists of one owner have changed, if its client has seen lists. */
  onChange(listener: Listener<[owner: LinkOwner, kinds: readonly ListKind[]]>): () => void {
    return this.changeListeners.add(listener);
  }

  add(backend: Backend): void {
    if (backend.hasSessionLinks) this.isolatedBackends.set(backend.id, backend);
  }

  remove(backend: Backend): void {
    if (!this.isolatedBackends.delete(backend.id)) return;
    for (const state of this.owners.values()) {
      state.waits.delete(backend.id);
      if (state.listings.delete(backend.id)) void this.update(state);
    }
  }

  /** Whether the server has sent a list of this kind over the link of the owner. */
  has(owner: string, server: string, kind: ListKind): boolean {
    const listing = this.owners.get(owner)?.listings.get(server);
    return listing !== undefined && wasFetched(kind, listing[kind]);
  }

  /** The scope with the catalog of the request's link owner, if the link owner has its own catalog. */
  scopeOf(scope: Scope, request: OwnedRequest): Scope {
    return this.isolatedBackends.size === 0 ? scope : this.registry.scopeOf(scope, request.linkOwner?.id);
  }

  /**
   * To be called for a request for a list. Opens the links of the request's link owner to the servers of the scope whose lists
   * were not fetched for the owner yet. Resolves when these lists were fetched, or after `SESSION_LISTING_WAIT_MS`. Undefined
   * when there is no server to wait for.
   */
  whenListed(scope: Scope, request: OwnedRequest): Promise<void> | undefined {
    if (this.isolatedBackends.size === 0) return undefined;
    const { linkOwner } = request;
    if (!linkOwner) return undefined;
    const state = this.stateOf(linkOwner);
    const waits = this.pendingWaitsOf(state, (server) => scope.allows(server));
    if (waits.length === 0) {
      state.hasSeenLists = true;
      return undefined;
    }
    return Promise.all(waits).then(() => {
      state.hasSeenLists = true;
    });
  }

  /**
   * Like `whenListed`, for a request with a name that is not listed. Before the promise resolves, `request.scope` is replaced
   * by the scope with the catalog of the link owner. `servers` are the servers to which the name belongs; empty if it
   * may belong to any server.
   */
  updateScopeWhenListed(request: ScopedRequest, servers: readonly string[]): Promise<void> | undefined {
    if (this.isolatedBackends.size === 0) return undefined;
    const { linkOwner, scope } = request;
    if (!linkOwner) return undefined;
    const mayOwnName = (server: string): boolean =>
      servers.length === 0 ? scope.allows(server) : servers.includes(server);
    const waits = this.pendingWaitsOf(this.stateOf(linkOwner), mayOwnName);
    if (waits.length === 0) return undefined;
    return Promise.all(waits).then(() => {
      request.scope = this.scopeOf(scope, request);
    });
  }

  /** To be called when a list was fetched over the link of an owner. Resolves when the owner's catalog has the list. */
  async listed(backend: Backend, owner: LinkOwner, listing: Listing): Promise<void> {
    if (owner.isClosed || this.isolatedBackends.get(backend.id) !== backend) return;
    const state = this.stateOf(owner);
    const previous = state.listings.get(backend.id);
    state.listings.set(backend.id, listing);
    await this.update(state);
    const kinds = changedKinds(previous, listing, backend.listing);
    if (state.hasSeenLists && !owner.isClosed && kinds.length > 0) this.changeListeners.emit(owner, kinds);
  }

  /** To be called when the listing of the shared link has changed. */
  async sharedListingChanged({ id }: Backend): Promise<void> {
    const affected = [...this.owners.values()].filter(({ listings }) => listings.has(id));
    await Promise.all(affected.map((state) => this.update(state)));
  }

  private stateOf(owner: LinkOwner): OwnerState {
    const existing = this.owners.get(owner.id);
    if (existing) return existing;
    const state = new OwnerState(owner);
    if (owner.isClosed) return state;
    this.owners.set(owner.id, state);
    const removeListener = owner.onClose(() => {
      removeListener();
      this.owners.delete(owner.id);
      state.listings.clear();
      void this.update(state);
    });
    return state;
  }

  /** The pending waits for first listings of the owner at these servers. */
  private pendingWaitsOf(state: OwnerState, isIncluded: (server: string) => boolean): Promise<void>[] {
    return [...this.isolatedBackends.values()]
      .filter(({ id }) => isIncluded(id))
      .map((backend) => this.waitOf(state, backend))
      .filter(({ isPending }) => isPending)
      .map(({ settled }) => settled);
  }

  /**
   * The wait for the first listing of the owner at this server. A new wait begins if the last one began more than
   * `SESSION_LISTING_WAIT_MS` ago and the owner has no link to the server.
   */
  private waitOf(state: OwnerState, backend: Backend): FirstListingWait {
    const existing = state.waits.get(backend.id);
    const isRecent = existing && performance.now() - existing.startedAt < SESSION_LISTING_WAIT_MS;
    if (existing && (isRecent || backend.isolatedLinks?.hasLink(state.owner))) return existing;
    const settled = completesWithin(
      backend.isolatedLinks!.whenListed(state.owner, SESSION_LISTING_WAIT_MS).catch(() => {}),
      SESSION_LISTING_WAIT_MS,
    ).then(() => {
      wait.isPending = false;
    });
    const wait: FirstListingWait = { settled, startedAt: performance.now(), isPending: true };
    state.waits.set(backend.id, wait);
    return wait;
  }

  /** Resolves when the owner's catalog has the owner's current listings. */
  private update(state: OwnerState): Promise<void> {
    state.update = state.update.then(() => this.assign(state));
    return state.update;
  }

  private async assign(state: OwnerState): Promise<void> {
    const isAssigned = await this.registry.variants.assign(state.owner.id, this.differingListings(state));
    if (!isAssigned) this.onTooMany();
  }

  /** The listings of the owner that differ from those of the shared links. */
  private differingListings({ listings }: OwnerState): Map<string, Listing> {
    const differing = new Map<string, Listing>();
    for (const [id, listing] of listings) {
      const sharedListing = this.isolatedBackends.get(id)?.listing;
      if (!sharedListing) continue;
      const kinds = KINDS.filter(
        (kind) => wasFetched(kind, listing[kind]) && !isSameList(listing[kind], sharedListing[kind]),
      );
      if (kinds.length === 0) continue;
      const ownLists = Object.fromEntries(kinds.map((kind) => [kind, listing[kind]]));
      differing.set(id, { ...sharedListing, ...ownLists });
    }
    return differing;
  }
}

/**
 * The kinds of lists that have changed for an owner. Before a list was fetched over the link of the owner, the owner has the
 * list of the shared link.
 */
function changedKinds(
  previous: Listing | undefined,
  current: Listing,
  sharedListing: Listing = UNFETCHED_LISTING,
): readonly ListKind[] {
  const isChanged = (kind: keyof Lists): boolean => {
    const effective = previous && wasFetched(kind, previous[kind]) ? previous : sharedListing;
    return wasFetched(kind, current[kind]) && !isSameList(effective[kind], current[kind]);
  };
  return LIST_KINDS.filter((kind) => isChanged(kind) || (kind === 'resources' && isChanged('templates')));
}
