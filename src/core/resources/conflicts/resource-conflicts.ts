import type { Steps } from '../../../lib/slices/run-sliced.js';
import { ServersByUri } from './servers-by-uri.js';
import type { Resource, ResourceList } from '../resource-list.js';
import type { ResourceTemplate } from '../resource-template.js';
import type { ResourceStyle } from '../resource-uri.js';
import { possibleUriOwners } from '../uri-owners.js';
import { diffSorted } from '../../../lib/sorted/sorted-diff.js';

/** The resources and templates that one server offers. */
export interface ResourceOffer {
  readonly server: string;
  /** Position of the server in the configuration. */
  readonly rank: number;
  readonly resources: ResourceList;
  readonly templates: readonly ResourceTemplate[];
  /** Called when a URI or identifier was not matched with all templates, because that would take too long. */
  readonly onMatchLimit?: (() => void) | undefined;
}

/**
 * Own URIs and identifiers of one server's resources that also belong, or may belong, to another resource. The scope
 * decides which of these conflict.
 */
export interface PossibleConflicts {
  /** Own URIs that other servers list too. Only in style `original`. */
  readonly sharedUris: ReadonlySet<string>;
  /** Own URIs that may be the resource form or identifier of another resource. Only in style `original`. */
  readonly formLikeUris: ReadonlySet<string>;
  /**
   * The server ids that the URIs in `formLikeUris` contain. If a server with such an id is configured, the URI with the id
   * belongs to that server (`uriOwners`).
   */
  readonly possibleOwners: ReadonlySet<string>;
  /** By id of another server: the identifiers that both servers have. */
  readonly sharedIds: ReadonlyMap<string, ReadonlySet<string>>;
}

const STEPS_BETWEEN_YIELDS = 256;

/**
 * Finds the possible conflicts between the resources of all servers. `put` and `remove` update them for one server that
 * changed. The duration grows with the lists of this server and of the servers whose possible conflicts change.
 */
export class ResourceConflicts {
  private readonly offers = new Map<string, ResourceOffer>();
  private readonly conflicts = new Map<string, PossibleConflicts>();
  private serversByUri = new ServersByUri();
  /** By server, then by another server: the identifiers that both have. */
  private readonly sharedIds = new Map<string, Map<string, ReadonlySet<string>>>();

  constructor(private readonly style: ResourceStyle) {}

  /** A copy to which changes can be made independently. */
  *fork(): Steps<ResourceConflicts> {
    const fork = new ResourceConflicts(this.style);
    for (const [server, offer] of this.offers) fork.offers.set(server, offer);
    for (const [server, conflicts] of this.conflicts) fork.conflicts.set(server, conflicts);
    for (const [server, sets] of this.sharedIds) fork.sharedIds.set(server, new Map(sets));
    if (this.style === 'original') fork.serversByUri = yield* this.serversByUri.fork();
    return fork;
  }

  /** Returns the possible conflicts of a server. `put` must have run for this server. */
  of(server: string): PossibleConflicts {
    return this.conflicts.get(server)!;
  }

  /** Returns the servers whose possible conflicts changed. */
  *put(offer: ResourceOffer): Steps<ReadonlySet<string>> {
    const { server } = offer;
    const old = this.offers.get(server);
    this.offers.set(server, offer);
    const changed = new Set([server]);
    yield* this.updateServersByUri(server, old, offer, changed);
    for (const other of this.offers.values()) yield* this.updateSharedIds(offer, other, changed);
    for (const id of changed) this.conflicts.set(id, yield* this.collect(this.offers.get(id)!));
    return changed;
  }

  /** Returns the other servers whose possible conflicts changed. */
  *remove(server: string): Steps<ReadonlySet<string>> {
    const old = this.offers.get(server);
    const changed = new Set<string>();
    if (!old) return changed;
    this.offers.delete(server);
    this.conflicts.delete(server);
    yield* this.updateServersByUri(server, old, undefined, changed);
    this.sharedIds.delete(server);
    for (const [other, sets] of this.sharedIds) if (sets.delete(server)) changed.add(other);
    changed.delete(server);
    for (const id of changed) this.conflicts.set(id, yield* this.collect(this.offers.get(id)!));
    return changed;
  }

  /**
   * Updates `serversByUri` from the old offer of a server to the new one. Adds to `changed` the other servers with a URI
   * that is now shared, or is no longer shared.
   */
  private *updateServersByUri(
    server: string,
    old: ResourceOffer | undefined,
    now: ResourceOffer | undefined,
    changed: Set<string>,
  ): Steps {
    if (this.style !== 'original' || old?.resources === now?.resources) return;
    let step = 0;
    for (const { removed, added } of diffSorted(
      old?.resources.plain ?? [],
      now?.resources.plain ?? [],
      uriOf,
    )) {
      if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
      let other: string | undefined;
      if (removed) other = this.serversByUri.delete(removed.uri, server);
      else if (added) other = this.serversByUri.add(added.uri, server);
      if (other !== undefined) changed.add(other);
    }
  }

  /**
   * Finds the identifiers that two servers share. There are none unless one server id is a prefix of the other, because
   * an identifier starts with the server id. Adds the servers to `changed` if the shared identifiers changed.
   */
  private *updateSharedIds(one: ResourceOffer, other: ResourceOffer, changed: Set<string>): Steps {
    const [short, long] = one.server.length < other.server.length ? [one, other] : [other, one];
    if (!long.server.startsWith(`${short.server}_`)) return;
    const shared = new Set<string>();
    let step = 0;
    for (const { id } of short.resources.idsStartingWith(`${long.server}_`)) {
      if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
      if (long.resources.findId(id)) shared.add(id);
    }
    if (this.replaceSharedIds(short.server, long.server, shared)) changed.add(short.server);
    if (this.replaceSharedIds(long.server, short.server, shared)) changed.add(long.server);
  }

  /** Returns whether the shared identifiers changed. */
  private replaceSharedIds(server: string, other: string, ids: ReadonlySet<string>): boolean {
    const sets = this.sharedIds.get(server) ?? new Map<string, ReadonlySet<string>>();
    const old = sets.get(other);
    if (old ? isSameSet(old, ids) : ids.size === 0) return false;
    this.sharedIds.set(server, sets);
    if (ids.size === 0) sets.delete(other);
    else sets.set(other, ids);
    return true;
  }

  private *collect({ server, resources }: ResourceOffer): Steps<PossibleConflicts> {
    const sharedUris = new Set<string>();
    const formLikeUris = new Set<string>();
    const possibleOwners = new Set<string>();
    let step = 0;
    for (const { uri } of this.style === 'original' ? resources.plain : []) {
      if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
      if (this.serversByUri.isShared(uri)) sharedUris.add(uri);
      for (const owner of possibleUriOwners(uri)) {
        formLikeUris.add(uri);
        possibleOwners.add(owner);
      }
    }
    // Copied, because `this.sharedIds` changes when another server changes.
    return { sharedUris, formLikeUris, possibleOwners, sharedIds: new Map(this.sharedIds.get(server)) };
  }
}

const uriOf = ({ uri }: Resource): string => uri;

function isSameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  if (a.size !== b.size) return false;
  for (const item of a) if (!b.has(item)) return false;
  return true;
}
