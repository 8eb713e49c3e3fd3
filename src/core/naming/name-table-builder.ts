import type { Steps } from '../../lib/slices/run-sliced.js';
import { sortSteps } from '../../lib/slices/sliced-sort.js';
import { uiUrisIn } from '../resources/public-uris.js';
import { CatalogEntry, type ListedEntry } from './catalog-entry.js';
import { NameTable } from './name-table.js';
import {
  bareNamesOf,
  entriesByDigestName,
  possibleOwnersOf,
  defaultNames,
  type NamedOffer,
} from './named-offer.js';
import { endsWithDigest } from './naming.js';
import type { ServerEntries } from './server-entries.js';

const STEPS_BETWEEN_YIELDS = 128;
const NO_NAMES: ReadonlySet<string> = new Set();

/**
 * Builds the table of all tools, or all prompts. A table has one part (`ServerEntries`) per server that has listed. A
 * change of a server rebuilds its part. It also rebuilds the part of another server if a bare name (a name without a
 * prefix) of that server is now shared, or is no longer shared. All other parts are reused.
 */
export class NameTableBuilder {
  private readonly parts = new Map<string, ServerEntries>();
  private readonly offers = new Map<string, NamedOffer>();
  /** By bare name: the servers with an entry that may be listed under this name. */
  private readonly bareOwners = new Map<string, Set<string>>();
  private current: NameTable;

  constructor(private readonly separator: string) {
    this.current = new NameTable([], separator);
  }

  /** The table after the last completed change (`put` or `remove`). The same object as before if the change had no effect. */
  get table(): NameTable {
    return this.current;
  }

  /** Replaces the ids of the configured servers. */
  setServers(ids: ReadonlySet<string>): void {
    this.current = this.current.withServers(ids);
  }

  /** Replaces the definitions of a server. */
  *put(offer: NamedOffer): Steps {
    const { server, rank, style, definitions, disabledNames = NO_NAMES } = offer;
    const old = this.offers.get(server);
    if (
      old?.definitions === definitions &&
      old.rank === rank &&
      old.style === style &&
      hasSameNames(old.disabledNames ?? NO_NAMES, disabledNames)
    )
      return;
    this.offers.set(server, offer);
    const bareNames = yield* bareNamesOf(offer, this.separator);
    yield* this.rebuildParts(yield* this.updateBareOwners(server, bareNames));
  }

  *remove(server: string): Steps {
    if (!this.offers.delete(server)) return;
    yield* this.rebuildParts(yield* this.updateBareOwners(server, NO_NAMES));
  }

  /** A copy of this builder that can be changed independently. No `put` or `remove` may be in progress. */
  *fork(): Steps<NameTableBuilder> {
    const fork = new NameTableBuilder(this.separator);
    for (const [server, part] of this.parts) fork.parts.set(server, part);
    for (const [server, offer] of this.offers) fork.offers.set(server, offer);
    let step = 0;
    for (const [name, owners] of this.bareOwners) {
      if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
      fork.bareOwners.set(name, new Set(owners));
    }
    fork.current = this.current;
    return fork;
  }

  /**
   * Replaces the bare names of a server in `bareOwners`. Returns this server, and each other server with a bare name that is
   * now shared or is no longer shared.
   */
  private *updateBareOwners(server: string, newNames: ReadonlySet<string>): Steps<Set<string>> {
    const changed = new Set([server]);
    const oldNames = this.parts.get(server)?.bareNames ?? NO_NAMES;
    let step = 0;
    for (const name of oldNames) {
      if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
      if (newNames.has(name)) continue;
      const owners = this.bareOwners.get(name)!;
      owners.delete(server);
      if (owners.size === 0) this.bareOwners.delete(name);
      else if (owners.size === 1) for (const owner of owners) changed.add(owner);
    }
    for (const name of newNames) {
      if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
      const owners = this.bareOwners.get(name);
      if (!owners) this.bareOwners.set(name, new Set([server]));
      else if (owners.add(server).size === 2) for (const owner of owners) changed.add(owner);
    }
    return changed;
  }

  private *rebuildParts(servers: Iterable<string>): Steps {
    for (const server of servers) {
      const offer = this.offers.get(server);
      if (offer) this.parts.set(server, yield* this.createPart(offer));
      else this.parts.delete(server);
    }
    const parts = [...this.parts.values()].toSorted(
      (a, b) => a.rank - b.rank || (a.server < b.server ? -1 : 1),
    );
    this.current = this.current.withParts(parts);
  }

  private *createPart(offer: NamedOffer): Steps<ServerEntries> {
    const { server, rank, style, definitions, disabledNames = NO_NAMES } = offer;
    const old = this.parts.get(server);
    const bareNames = yield* bareNamesOf(offer, this.separator);
    const unsorted: ListedEntry[] = [];
    const byOwnName = new Map<string, CatalogEntry>();
    const byPublicName = new Map<string, CatalogEntry>();
    const uiUris = new Set<string>();
    const names = yield* defaultNames(offer, bareNames, this.separator);
    for (const definition of definitions) {
      if ((byOwnName.size + 1) % STEPS_BETWEEN_YIELDS === 0) yield;
      const created = new CatalogEntry(server, definition.name, names.get(definition.name), definition);
      const previous = old?.byOwnName.get(definition.name);
      const entry = (previous?.isSame(created) ? previous : created) as ListedEntry;
      byOwnName.set(entry.ownName, entry);
      byPublicName.set(entry.publicName, entry);
      for (const uri of uiUrisIn(definition.text)) uiUris.add(uri);
      unsorted.push(entry);
    }
    const sorted = yield* sortSteps(unsorted, (a, b) => (a.publicName < b.publicName ? -1 : 1));
    const listed = old && hasSameItems(old.listed, sorted) ? old.listed : sorted;
    const scopeDependent = yield* this.scopeDependentIn(listed, bareNames);
    const isUnchanged =
      old?.rank === rank &&
      old.style === style &&
      old.listed === listed &&
      hasSameItems(old.scopeDependent, scopeDependent) &&
      hasSameNames(old.disabledNames, disabledNames);
    if (isUnchanged) return old;
    return {
      server,
      rank,
      style,
      listed,
      scopeDependent,
      ...(yield* possibleOwnersOf(scopeDependent, this.separator)),
      bareNames,
      disabledNames,
      byPublicName,
      byDigestName: yield* entriesByDigestName(offer, listed, this.separator),
      byOwnName,
      uiUris,
    };
  }

  /** The entries whose name in a scope depends on the other servers of the scope. */
  private *scopeDependentIn(
    listed: readonly ListedEntry[],
    bareNames: ReadonlySet<string>,
  ): Steps<readonly ListedEntry[]> {
    const scopeDependent: ListedEntry[] = [];
    if (bareNames.size === 0) return scopeDependent;
    let step = 0;
    for (const entry of listed) {
      if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
      const { publicName: name } = entry;
      if (!bareNames.has(name)) continue;
      // A bare name that contains the separator, or ends like a digest name, can equal the name of another server's entry.
      const mayEqualOtherName = name.includes(this.separator) || endsWithDigest(name);
      if (mayEqualOtherName || this.bareOwners.get(name)!.size > 1) scopeDependent.push(entry);
    }
    return scopeDependent;
  }
}

const hasSameItems = <Item>(a: readonly Item[], b: readonly Item[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index]);

const hasSameNames = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a === b || (a.size === b.size && [...a].every((name) => b.has(name)));
