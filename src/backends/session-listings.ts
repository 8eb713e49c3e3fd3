import { EMPTY_LISTING, LIST_KINDS, type Listing, type ListKind } from '../core/catalog/catalog.js';
import type { Scope } from '../core/scope.js';
import { completesWithin } from '../lib/deadlines/timeout.js';
import { ListenerSet, type Listener } from '../lib/listeners/listener-set.js';
import type { ClientSession, McpContext } from '../mcp/mcp-context.js';
import type { Registry } from '../registry/registry.service.js';
import type { Backend } from './backend.js';
import type { Lists } from './listing/list-kinds.js';
import { isSameList, wasFetched } from './listing/list-deduplicator.js';

/**
 * How long a request waits for the first listing over the link of the session. After that, it continues with the listing of
 * the shared link.
 */
export const SESSION_LISTING_WAIT_MS = 5000;
const KINDS: readonly (keyof Lists)[] = ['tools', 'prompts', 'resources', 'templates'];

/** The wait for the first listing of one session at one server. */
interface FirstListingWait {
  /** Resolves when the server has listed, when the link could not be opened, or after the timeout. */
  readonly settled: Promise<void>;
  /** A time of `performance.now()`. */
  readonly startedAt: number;
  isPending: boolean;
}

class SessionState {
  /** By server: the listing over the link of the session. */
  readonly listings = new Map<string, Listing>();
  /** By server: the wait for its first listing. */
  readonly waits = new Map<string, FirstListingWait>();
  /** Whether the client has seen lists. Only such a client is notified when lists change. */
  hasListed = false;
  /** The last update of the catalog of the session. Updates run one after the other. */
  update: Promise<void> = Promise.resolve();

  constructor(readonly owner: ClientSession) {}
}

type OwnedRequest = Pick<McpContext, 'linkOwner'>;
type ScopedRequest = Pick<McpContext, 'linkOwner' | 'scope'>;

/**
 * The listings of sessions that have links of their own (`isolation: session`): servers may list other tools, prompts and
 * resources for a client with other capabilities.
 */
export class SessionListings {
  /** By id of the owner of the links. */
  private readonly sessions = new Map<string, SessionState>();
  /** By server id: the backends with `isolation: session`. */
  private readonly isolatedBackends = new Map<string, Backend>();
  private readonly changeListeners = new ListenerSet<[owner: ClientSession, kinds: readonly ListKind[]]>();

  constructor(
    private readonly registry: Registry,
    /** Called when a session gets the shared listing, because there are too many different listings. */
    private readonly onTooMany: () => void = () => {},
  ) {}

  /** Called when lists of one session have changed, if its client has seen lists. */
  onChange(listener: Listener<[owner: ClientSession, kinds: readonly ListKind[]]>): () => void {
    return this.changeListeners.add(listener);
  }

  add(backend: Backend): void {
    if (backend.hasSessionLinks) this.isolatedBackends.set(backend.id, backend);
  }

  remove(backend: Backend): void {
    if (!this.isolatedBackends.delete(backend.id)) return;
    for (const state of this.sessions.values()) {
      state.waits.delete(backend.id);
      if (state.listings.delete(backend.id)) void this.update(state);
    }
  }

  /** Whether the server has sent a list of this kind over the link of the session. */
  has(session: string, server: string, kind: ListKind): boolean {
    const listing = this.sessions.get(session)?.listings.get(server);
    return listing !== undefined && wasFetched(kind, listing[kind]);
  }

  /** The scope of the request, with the catalog of its session if that has one. */
  scopeOf(scope: Scope, request: OwnedRequest): Scope {
    return this.isolatedBackends.size === 0 ? scope : this.registry.scopeOf(scope, request.linkOwner?.id);
  }

  /**
   * To be called for a request for a list. Opens the links of the session to the servers of the scope that have not listed for
   * it yet. Resolves when these servers have listed, or after `SESSION_LISTING_WAIT_MS`. Undefined when there is no server to
   * wait for.
   */
  whenListed(scope: Scope, request: OwnedRequest): Promise<void> | undefined {
    if (this.isolatedBackends.size === 0) return undefined;
    const { linkOwner } = request;
    if (!linkOwner) return undefined;
    const state = this.stateOf(linkOwner);
    const waits = this.pendingWaitsOf(state, (server) => scope.allows(server));
    if (waits.length === 0) {
      state.hasListed = true;
      return undefined;
    }
    return Promise.all(waits).then(() => {
      state.hasListed = true;
    });
  }

  /**
   * Like `whenListed`, for a request with a name that is not listed. Before the promise resolves, `request.scope` is set to the
   * scope with the catalog of the session. `servers` are the servers to which the name belongs; empty if it may belong to any
   * server.
   */
  whenMayBeListed(request: ScopedRequest, servers: readonly string[]): Promise<void> | undefined {
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

  /** To be called when a list was fetched over the link of a session. Resolves when the catalog of the session has the list. */
  async listed(backend: Backend, owner: ClientSession, listing: Listing): Promise<void> {
    if (owner.isClosed || this.isolatedBackends.get(backend.id) !== backend) return;
    const state = this.stateOf(owner);
    const previous = state.listings.get(backend.id);
    state.listings.set(backend.id, listing);
    await this.update(state);
    const kinds = changedKinds(previous, listing, backend.listing);
    if (state.hasListed && !owner.isClosed && kinds.length > 0) this.changeListeners.emit(owner, kinds);
  }

  /** To be called when the listing of the shared link has changed. */
  async sharedListingChanged({ id }: Backend): Promise<void> {
    const affected = [...this.sessions.values()].filter(({ listings }) => listings.has(id));
    await Promise.all(affected.map((state) => this.update(state)));
  }

  private stateOf(owner: ClientSession): SessionState {
    const existing = this.sessions.get(owner.id);
    if (existing) return existing;
    const state = new SessionState(owner);
    if (owner.isClosed) return state;
    this.sessions.set(owner.id, state);
    const removeListener = owner.onClose(() => {
      removeListener();
      this.sessions.delete(owner.id);
      state.listings.clear();
      void this.update(state);
    });
    return state;
  }

  /** The pending waits for first listings of the session at these servers. */
  private pendingWaitsOf(state: SessionState, isIncluded: (server: string) => boolean): Promise<void>[] {
    return [...this.isolatedBackends.values()]
      .filter(({ id }) => isIncluded(id))
      .map((backend) => this.waitOf(state, backend))
      .filter(({ isPending }) => isPending)
      .map(({ settled }) => settled);
  }

  /**
   * The wait for the first listing of the session at this server. A new wait begins if the last one began more than
   * `SESSION_LISTING_WAIT_MS` ago and the session has no link to the server.
   */
  private waitOf(state: SessionState, backend: Backend): FirstListingWait {
    const existing = state.waits.get(backend.id);
    const isRecent = existing && performance.now() - existing.startedAt < SESSION_LISTING_WAIT_MS;
    if (existing && (isRecent || backend.sessions?.hasLink(state.owner))) return existing;
    const settled = completesWithin(
      backend.sessions!.whenListed(state.owner, SESSION_LISTING_WAIT_MS).catch(() => {}),
      SESSION_LISTING_WAIT_MS,
    ).then(() => {
      wait.isPending = false;
    });
    const wait: FirstListingWait = { settled, startedAt: performance.now(), isPending: true };
    state.waits.set(backend.id, wait);
    return wait;
  }

  /** Resolves when the catalog of the session has its current listings. */
  private update(state: SessionState): Promise<void> {
    state.update = state.update.then(() => this.assign(state));
    return state.update;
  }

  private async assign(state: SessionState): Promise<void> {
    const isAssigned = await this.registry.variants.assign(state.owner.id, this.differingListings(state));
    if (!isAssigned) this.onTooMany();
  }

  /** The listings of the session that differ from those of the shared links. */
  private differingListings({ listings }: SessionState): Map<string, Listing> {
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
 * The kinds of lists that have changed for a session. Before a list was fetched over the link of the session, the session has
 * the list of the shared link.
 */
function changedKinds(
  previous: Listing | undefined,
  current: Listing,
  sharedListing: Listing = EMPTY_LISTING,
): readonly ListKind[] {
  const isChanged = (kind: keyof Lists): boolean => {
    const effective = previous && wasFetched(kind, previous[kind]) ? previous : sharedListing;
    return wasFetched(kind, current[kind]) && !isSameList(effective[kind], current[kind]);
  };
  return LIST_KINDS.filter((kind) => isChanged(kind) || (kind === 'resources' && isChanged('templates')));
}
