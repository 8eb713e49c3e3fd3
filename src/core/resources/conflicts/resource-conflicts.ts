import type { Steps } from '../../../lib/slices/run-sliced.js';
import { NameOwners } from './name-owners.js';
import type { Resource, ResourceList } from '../resource-list.js';
import { bestInstances, type ResourceTemplate } from '../resource-template.js';
import { parseResourceForm, resourceForm, withoutDigest, type ResourceStyle } from '../resource-uri.js';
import { diffSorted } from '../../../lib/sorted/sorted-diff.js';
import { TemplateConflicts } from './template-conflicts.js';

export interface ResourceOffer {
  readonly server: string;
  /** Position of the server in the configuration. */
  readonly rank: number;
  readonly resources: ResourceList;
  readonly templates: readonly ResourceTemplate[];
}

/** Names of one server's resources and templates that are also names of other resources or templates. */
export interface ConflictingNames {
  readonly uris: ReadonlySet<string>;
  readonly ids: ReadonlySet<string>;
  readonly uriTemplates: ReadonlySet<string>;
  readonly templateIds: ReadonlySet<string>;
}

const STEPS_BETWEEN_YIELDS = 256;

/** By server, then by another server: the names of the first that conflict with names of the second. */
type NamesByServerPair = Map<string, Map<string, ReadonlySet<string>>>;

/**
 * Finds the name conflicts between the resources of all servers, one changed server at a time. A change takes time
 * for the lists of the server that changed, and of the servers whose conflicts change with it.
 */
export class ResourceConflicts {
  private readonly offers = new Map<string, ResourceOffer>();
  private readonly conflicts = new Map<string, ConflictingNames>();
  private readonly uriOwners = new NameOwners();
  /** Own URIs that equal the resource form or identifier of another resource. */
  private readonly ambiguousUris: NamesByServerPair = new Map();
  private readonly sharedIds: NamesByServerPair = new Map();
  private readonly templates: TemplateConflicts;

  constructor(private readonly style: ResourceStyle) {
    this.templates = new TemplateConflicts(style);
  }

  of(server: string): ConflictingNames {
    return this.conflicts.get(server)!;
  }

  /** Returns the servers whose conflicts changed. */
  *put(offer: ResourceOffer): Steps<ReadonlySet<string>> {
    const { server } = offer;
    const old = this.offers.get(server);
    this.offers.set(server, offer);
    const changed = new Set([server]);
    yield* this.updateOwners(server, old, offer, changed);
    yield* this.templates.replace(server, old?.templates ?? [], offer.templates, changed);
    for (const other of this.offers.values()) {
      if (this.style === 'original') {
        yield* this.updateAmbiguousUris(offer, other, changed);
        if (other !== offer) yield* this.updateAmbiguousUris(other, offer, changed);
      }
      yield* this.updateSharedIds(offer, other, changed);
    }
    for (const each of changed) this.conflicts.set(each, yield* this.collect(this.offers.get(each)!));
    return changed;
  }

  /** Returns the other servers whose conflicts changed. */
  *remove(server: string): Steps<ReadonlySet<string>> {
    const old = this.offers.get(server);
    const changed = new Set<string>();
    if (!old) return changed;
    this.offers.delete(server);
    this.conflicts.delete(server);
    yield* this.updateOwners(server, old, undefined, changed);
    yield* this.templates.replace(server, old.templates, [], changed);
    for (const pairs of [this.ambiguousUris, this.sharedIds]) {
      pairs.delete(server);
      for (const [other, sets] of pairs) if (sets.delete(server)) changed.add(other);
    }
    changed.delete(server);
    for (const each of changed) this.conflicts.set(each, yield* this.collect(this.offers.get(each)!));
    return changed;
  }

  private *updateOwners(
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
      if (removed) other = this.uriOwners.delete(removed.uri, server);
      else if (added) other = this.uriOwners.add(added.uri, server);
      if (other !== undefined) changed.add(other);
    }
  }

  /** Fast, because such a URI starts with the resource form or the id of the other server, and few URIs do. */
  private *updateAmbiguousUris(offer: ResourceOffer, other: ResourceOffer, changed: Set<string>): Steps {
    const found = new Set<string>();
    let step = 0;
    for (const prefix of [resourceForm({ server: other.server, uri: '' }), `${other.server}_`])
      for (const { uri } of offer.resources.startingWith(prefix)) {
        if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
        if (isNameIn(other, uri)) found.add(uri);
      }
    if (replaceNames(this.ambiguousUris, offer.server, other.server, found)) changed.add(offer.server);
  }

  /** Identifiers start with the server id, so two servers share some only if one id is a prefix of the other. */
  private *updateSharedIds(one: ResourceOffer, other: ResourceOffer, changed: Set<string>): Steps {
    const [short, long] = one.server.length < other.server.length ? [one, other] : [other, one];
    if (!long.server.startsWith(`${short.server}_`)) return;
    const shared = new Set<string>();
    let step = 0;
    for (const { id } of short.resources.idsStartingWith(`${long.server}_`)) {
      if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
      if (long.resources.findId(id)) shared.add(id);
    }
    if (replaceNames(this.sharedIds, short.server, long.server, shared)) changed.add(short.server);
    if (replaceNames(this.sharedIds, long.server, short.server, shared)) changed.add(long.server);
  }

  /** The conflicting names of one server. */
  private *collect({ server, resources, templates }: ResourceOffer): Steps<ConflictingNames> {
    const uris = yield* union(this.ambiguousUris.get(server));
    if (this.style === 'original') yield* this.addSharedUris(resources, uris);
    const ids = yield* union(this.sharedIds.get(server));
    return { uris, ids, ...(yield* this.templates.collect(templates)) };
  }

  /** Adds the own URIs that other servers have too. */
  private *addSharedUris(resources: ResourceList, uris: Set<string>): Steps {
    let step = 0;
    for (const { uri } of resources.plain) {
      if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
      if (this.uriOwners.isShared(uri)) uris.add(uri);
    }
  }
}

const uriOf = ({ uri }: Resource): string => uri;

/** Whether a text is the resource form or identifier of a resource of this server, or of an instance of its templates. */
function isNameIn({ server, resources, templates }: ResourceOffer, text: string): boolean {
  const form = parseResourceForm(text);
  if (form?.server === server)
    return resources.find(form.uri) !== undefined || bestInstances(templates, form.uri, 'uri').length > 0;
  return [text, withoutDigest(text)].some((id) => resources.findId(id));
}

/** Returns whether the names changed. */
function replaceNames(
  pairs: NamesByServerPair,
  server: string,
  other: string,
  names: ReadonlySet<string>,
): boolean {
  const old = pairs.get(server)?.get(other);
  if (old ? isSameSet(old, names) : names.size === 0) return false;
  const sets = pairs.get(server) ?? new Map<string, ReadonlySet<string>>();
  pairs.set(server, sets);
  if (names.size === 0) sets.delete(other);
  else sets.set(other, names);
  return true;
}

function isSameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  if (a.size !== b.size) return false;
  for (const item of a) if (!b.has(item)) return false;
  return true;
}

function* union(sets: ReadonlyMap<string, ReadonlySet<string>> = new Map()): Steps<Set<string>> {
  const names = new Set<string>();
  let step = 0;
  for (const set of sets.values())
    for (const name of set) {
      if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
      names.add(name);
    }
  return names;
}
