import { EMPTY_LISTING, LIST_KINDS, type Listing, type ListKind } from '../core/catalog/catalog.js';
import type { Scope } from '../core/scope.js';
import { completesWithin } from '../lib/deadlines/timeout.js';
import { ListenerSet, type Listener } from '../lib/listeners/listener-set.js';
import type { ClientSession, McpContext } from '../mcp/mcp-context.js';
import type { Registry } from '../registry/registry.service.js';
import type { Backend } from './backend.js';
import type { Lists } from './listing/list-kinds.js';
import { isSameList, wasFetched } from './listing/list-deduplicator.js';

/** How long a request waits until the server has listed over the link of the session. After that, the shared listing is used. */
export const SESSION_LISTING_WAIT_MS = 5000;
const KINDS: readonly (keyof Lists)[] = ['tools', 'prompts', 'resources', 'templates'];

/** A wait for the first listing of one server. */
interface FirstListing {
  readonly listed: Promise<void>;
  readonly startedAt: number;
  isPending: boolean;
}

class SessionState {
  /** By server. */
  readonly listings = new Map<string, Listing>();
  readonly first = new Map<string, FirstListing>();
  /** Whether the client has seen lists: then it is notified when they change. */
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
  private readonly sessions = new Map<string, SessionState>();
  private readonly isolated = new Map<string, Backend>();
  private readonly changeListeners = new ListenerSet<[owner: ClientSession, kinds: readonly ListKind[]]>();

  constructor(
    private readonly registry: Registry,
    /** Called when a session gets the shared listing, because there are too many different ones. */
    private readonly onTooMany: () => void = () => {},
  ) {}

  /** Called when lists that the client has seen change for its session alone. */
  onChange(listener: Listener<[owner: ClientSession, kinds: readonly ListKind[]]>): () => void {
    return this.changeListeners.add(listener);
  }

  add(backend: Backend): void {
    if (backend.hasSessionLinks) this.isolated.set(backend.id, backend);
  }

  remove(backend: Backend): void {
    if (!this.isolated.delete(backend.id)) return;
    for (const state of this.sessions.values()) {
      state.first.delete(backend.id);
      if (state.listings.delete(backend.id)) void this.update(state);
    }
  }

  /** Whether the session has its own list of this kind of the server. */
  has(session: string, server: string, kind: ListKind): boolean {
    const listing = this.sessions.get(session)?.listings.get(server);
    return listing !== undefined && wasFetched(kind, listing[kind]);
  }

  scopeOf(scope: Scope, request: OwnedRequest): Scope {
    return this.isolated.size === 0 ? scope : this.registry.scopeOf(scope, request.linkOwner?.id);
  }

  /**
   * Opens the links of the session to the servers of the scope that have not listed for it yet. Resolves when they have
   * listed, or after a few seconds. Undefined when there is nothing to wait for.
   */
  whenListed(scope: Scope, request: OwnedRequest): Promise<void> | undefined {
    if (this.isolated.size === 0) return undefined;
    const { linkOwner } = request;
    if (!linkOwner) return undefined;
    const state = this.stateOf(linkOwner);
    const waits = this.firstListings(state, (server) => scope.allows(server));
    if (waits.length === 0) state.hasListed = true;
    else return Promise.all(waits).then(() => void (state.hasListed = true));
    return undefined;
  }

  /**
   * Like `whenListed`, for a request by a name that is not listed. Afterwards, the scope of the request has the listings.
   * `servers` are the servers to which the name belongs; empty if the name may belong to any server.
   */
  whenMayBeListed(request: ScopedRequest, servers: readonly string[]): Promise<void> | undefined {
    if (this.isolated.size === 0) return undefined;
    const { linkOwner, scope } = request;
    if (!linkOwner) return undefined;
    const mayOwnName = (server: string): boolean =>
      servers.length === 0 ? scope.allows(server) : servers.includes(server);
    const waits = this.firstListings(this.stateOf(linkOwner), mayOwnName);
    if (waits.length === 0) return undefined;
    return Promise.all(waits).then(() => void (request.scope = this.scopeOf(scope, request)));
  }

  /** A list was fetched over the link of a session. Resolves when the catalog of the session has it. */
  async listed(backend: Backend, owner: ClientSession, listing: Listing): Promise<void> {
    if (owner.isClosed || this.isolated.get(backend.id) !== backend) return;
    const state = this.stateOf(owner);
    const before = state.listings.get(backend.id);
    state.listings.set(backend.id, listing);
    await this.update(state);
    const kinds = changedKinds(before, listing, backend.listing);
    if (state.hasListed && !owner.isClosed && kinds.length > 0) this.changeListeners.emit(owner, kinds);
  }

  /** To be called when the listing of the shared link has changed. */
  async sharedListingChanged({ id }: Backend): Promise<void> {
    const affected = [...this.sessions.values()].filter(({ listings }) => listings.has(id));
    await Promise.all(affected.map((state) => this.update(state)));
  }

  private stateOf(owner: ClientSession): SessionState {
    const known = this.sessions.get(owner.id);
    if (known) return known;
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

  private firstListings(state: SessionState, isIncluded: (server: string) => boolean): Promise<void>[] {
    return [...this.isolated.values()]
      .filter(({ id }) => isIncluded(id))
      .map((backend) => this.firstListing(state, backend))
      .filter(({ isPending }) => isPending)
      .map(({ listed }) => listed);
  }

  /** The wait for the first listing of the session at this server. Begins again if the link could not be opened. */
  private firstListing(state: SessionState, backend: Backend): FirstListing {
    const known = state.first.get(backend.id);
    const isRecent = known && performance.now() - known.startedAt < SESSION_LISTING_WAIT_MS;
    if (known && (isRecent || backend.sessions?.hasLink(state.owner))) return known;
    const listed = completesWithin(
      backend.sessions!.whenListed(state.owner, SESSION_LISTING_WAIT_MS).catch(() => {}),
      SESSION_LISTING_WAIT_MS,
    ).then(() => void (first.isPending = false));
    const first: FirstListing = { listed, startedAt: performance.now(), isPending: true };
    state.first.set(backend.id, first);
    return first;
  }

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
      const shared = this.isolated.get(id)?.listing;
      if (!shared) continue;
      const kinds = KINDS.filter(
        (kind) => wasFetched(kind, listing[kind]) && !isSameList(listing[kind], shared[kind]),
      );
      if (kinds.length === 0) continue;
      const replaced = Object.fromEntries(kinds.map((kind) => [kind, listing[kind]]));
      differing.set(id, { ...shared, ...replaced });
    }
    return differing;
  }
}

/**
 * The kinds of lists that changed for a session. Before the first list of its own, a session has the list of the shared
 * link.
 */
function changedKinds(
  before: Listing | undefined,
  now: Listing,
  shared: Listing = EMPTY_LISTING,
): readonly ListKind[] {
  const isChanged = (kind: keyof Lists): boolean => {
    const earlier = before && wasFetched(kind, before[kind]) ? before : shared;
    return wasFetched(kind, now[kind]) && !isSameList(earlier[kind], now[kind]);
  };
  return LIST_KINDS.filter((kind) => isChanged(kind) || (kind === 'resources' && isChanged('templates')));
}
