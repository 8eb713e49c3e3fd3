import type { Steps } from '../../lib/slices/run-sliced.js';
import type { Scope } from '../scope.js';
import { META_TOOL_SERVER, type CatalogEntry, type ListedEntry } from './catalog-entry.js';
import {
  endsWithDigest,
  nameWithDigest,
  prefixedName,
  validOrDigestName,
  nameWithoutDigest,
} from './naming.js';
import type { ServerEntries } from './server-entries.js';
import type { ServerIds } from './server-ids.js';

/** Everything that decides the names in a scope. */
interface ScopeContents {
  readonly scope: Scope;
  /** The servers of the scope that have listed, sorted by rank. */
  readonly parts: readonly ServerEntries[];
  readonly servers: ServerIds;
  readonly separator: string;
}

interface AssignedNames {
  /** Maps an entry under its default name to the entry under its name in this scope, if the two names differ. */
  readonly renamed: ReadonlyMap<CatalogEntry, CatalogEntry>;
  /** Number of entries that the scope contains but does not list. */
  readonly unlistedCount: number;
}

/** Returns the entries that claim a bare name, because it is their default name, in the order of their servers. */
type ClaimsOf = (name: string) => readonly ListedEntry[];

const STEPS_BETWEEN_YIELDS = 128;

/**
 * Assigns the names that entries have in one scope. Terms:
 *
 * - The default name of an entry is its name in a scope without conflicts.
 * - A bare name has no prefix, for example `search`.
 * - A digest name ends with a digest, for example `github__search_1a2b3c4d`.
 *
 * Rules:
 *
 * - Style `conflict`: if several servers of the scope have the same own name, each of these entries gets a prefix.
 * - Style `never`: the entry of the first server gets the name. The entries of the other servers are not listed.
 * - In both styles, a bare name that belongs to another server (`ServerIds`) counts as taken by that server.
 * - If two servers of the scope have the same prefixed name, both entries get digest names. This also applies while the
 *   other server may have the prefixed name: the server has not listed yet, its tool with this name is disabled, or the
 *   name looks like one of its digest names.
 *
 * The name of an entry depends only on the servers of the scope, not on the order in which they listed. The time to
 * name one entry grows with the number of servers. `assignAll` names all entries at once, in steps.
 */
export class ScopedNames {
  private readonly byServer: ReadonlyMap<string, ServerEntries>;
  private readonly partsWithBareNames: readonly ServerEntries[];
  private assigned: AssignedNames | undefined;

  constructor(private readonly contents: ScopeContents) {
    const { parts } = contents;
    this.byServer = new Map(parts.map((part) => [part.server, part]));
    this.partsWithBareNames = parts.filter(({ bareNames }) => bareNames.size > 0);
  }

  /** The entry with its name in this scope. It has no public name if the scope does not list it. */
  scopedEntry(defaultEntry: CatalogEntry): CatalogEntry {
    if (this.assigned) return this.assigned.renamed.get(defaultEntry) ?? defaultEntry;
    const part = this.partOf(defaultEntry);
    return defaultEntry.withName(this.nameOf(part, defaultEntry as ListedEntry, this.claimsOf));
  }

  /**
   * The entry of a server that has this name in the scope. A digest name also finds an entry that no longer needs the
   * digest (`mayHaveHadDigest`), because clients may have stored that name.
   */
  findListed(part: ServerEntries, name: string): CatalogEntry | undefined {
    const defaultEntry = part.byPublicName.get(name);
    if (defaultEntry && this.scopedEntry(defaultEntry) === defaultEntry) return defaultEntry;
    for (const candidate of this.candidates(part, name)) {
      const entry = this.scopedEntry(candidate);
      if (entry.publicName === name || this.mayHaveHadDigest(entry, name)) return entry;
    }
    return undefined;
  }

  /** The entries that claim this bare name and are not listed, because another server has the name. */
  unlistedClaimants(name: string): CatalogEntry[] {
    const claims = this.claimsOf(name);
    return claims.filter((entry) => {
      const part = this.partOf(entry);
      return part.style === 'never' && this.isTaken(part, entry, () => claims);
    });
  }

  /**
   * The entries that share the prefixed name of this entry, including this one. Contains only those that got digest
   * names. Empty if no other entry shares the prefixed name.
   */
  sharersOfPrefixedName({ server, ownName }: CatalogEntry): CatalogEntry[] {
    const prefixed = prefixedName(server, this.contents.separator, ownName);
    const sharers = [...this.contents.servers.ownersOf(prefixed)].flatMap(
      ([owner, nameAtOwner]) => this.byServer.get(owner)?.byOwnName.get(nameAtOwner) ?? [],
    );
    if (sharers.length < 2) return [];
    return sharers.filter(
      (entry) => this.scopedEntry(entry).publicName === nameWithDigest(prefixed, entry.server, entry.ownName),
    );
  }

  /** Assigns names to all entries of the scope. A list needs the names of all its entries. */
  *assignAll(): Steps<AssignedNames> {
    if (this.assigned) return this.assigned;
    const renamed = new Map<CatalogEntry, CatalogEntry>();
    let unlistedCount = 0;
    let step = 0;
    const claims = yield* this.collectClaims();
    const overlapping = this.overlappingServers();
    for (const part of this.contents.parts) {
      // If the server is not in `overlapping`, its entries outside `scopeDependent` have their default names in this scope.
      const entries = overlapping.has(part.server) ? part.listed : part.scopeDependent;
      for (const entry of entries) {
        if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
        const name = this.nameOf(part, entry, (bare) => claims.get(bare) ?? []);
        if (name === entry.publicName) continue;
        renamed.set(entry, entry.withName(name));
        if (name === undefined) unlistedCount++;
      }
    }
    // Another caller may have assigned the names in the meantime.
    this.assigned ??= { renamed, unlistedCount };
    return this.assigned;
  }

  /** The servers whose prefixed names may also be names of other servers or of meta tools. */
  overlappingServers(): ReadonlySet<string> {
    const { servers, scope } = this.contents;
    const overlapping = servers.overlapping(scope);
    for (const name of this.byServer.get(META_TOOL_SERVER)?.byPublicName.keys() ?? [])
      for (const [owner] of servers.ownersOf(name)) overlapping.add(owner);
    return overlapping;
  }

  private *collectClaims(): Steps<Map<string, ListedEntry[]>> {
    const all = new Map<string, ListedEntry[]>();
    let step = 0;
    for (const { scopeDependent, byPublicName } of this.contents.parts)
      for (const entry of scopeDependent) {
        if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
        // In style `never`, two entries of a server may have the same default name. Only one of them can claim it.
        if (byPublicName.get(entry.publicName) !== entry) continue;
        const claims = all.get(entry.publicName);
        if (claims) claims.push(entry);
        else all.set(entry.publicName, [entry]);
      }
    return all;
  }

  private readonly claimsOf = (name: string): ListedEntry[] => {
    const owners = this.partsWithBareNames.filter(({ bareNames }) => bareNames.has(name));
    return owners.flatMap(({ byPublicName }) => (byPublicName.get(name) as ListedEntry | undefined) ?? []);
  };

  /** Entries of a server that may have this name in the scope, although it is not their default name. */
  private candidates({ server, byOwnName, byDigestName }: ServerEntries, name: string): CatalogEntry[] {
    const prefix = prefixedName(server, this.contents.separator, '');
    const ownName = name.startsWith(prefix) ? name.slice(prefix.length) : '';
    const plainName = endsWithDigest(ownName) ? nameWithoutDigest(ownName) : '';
    const found = [byOwnName.get(ownName), byOwnName.get(plainName), byDigestName.get(name)];
    return found.filter((entry) => entry !== undefined);
  }

  /** The name of the entry in this scope; undefined if the scope does not list it. */
  private nameOf(part: ServerEntries, entry: ListedEntry, claimsOf: ClaimsOf): string | undefined {
    const { server, style } = part;
    const isBare = style === 'never' || (style === 'conflict' && entry.publicName === entry.ownName);
    if (isBare && !this.isTaken(part, entry, claimsOf)) return entry.publicName;
    if (style === 'never') return undefined;
    const prefixed = prefixedName(server, this.contents.separator, entry.ownName);
    const name = isBare ? validOrDigestName(prefixed, server, entry.ownName) : entry.publicName;
    return name === prefixed && this.ambiguityOf(server, prefixed) === 'ambiguous'
      ? nameWithDigest(prefixed, server, entry.ownName)
      : name;
  }

  /** Whether the entry cannot have its bare name in this scope, because the name belongs to or is claimed by others. */
  private isTaken({ server, style }: ServerEntries, entry: ListedEntry, claimsOf: ClaimsOf): boolean {
    if (server === META_TOOL_SERVER) return false;
    if (this.contents.servers.belongsToOther(entry.publicName, server)) return true;
    const claims = claimsOf(entry.publicName);
    if (claims.length <= 1) return false;
    if (style === 'conflict') return true;
    const firstClaimant = claims.find((claimant) => this.partOf(claimant).style === 'never');
    return firstClaimant !== entry;
  }

  /**
   * Whether the entry has its prefixed name now, but may have had the digest name `name` earlier, because an entry of another
   * server in the scope could have the same prefixed name.
   */
  private mayHaveHadDigest({ server, ownName, publicName }: CatalogEntry, name: string): boolean {
    const prefixed = prefixedName(server, this.contents.separator, ownName);
    return (
      publicName === prefixed &&
      name === nameWithDigest(prefixed, server, ownName) &&
      this.ambiguityOf(server, prefixed) === 'possible'
    );
  }

  /**
   * Whether the prefixed name of an entry of `server` may also be the name of another entry in the scope. `possible`:
   * no other entry has the name now, but another server could list one that has it.
   */
  private ambiguityOf(server: string, prefixed: string): 'ambiguous' | 'possible' | 'none' {
    if (this.byServer.get(META_TOOL_SERVER)?.byPublicName.has(prefixed)) return 'ambiguous';
    if (this.hasOtherDigestOwner(server, prefixed)) return 'ambiguous';
    let hasOtherOwner = false;
    for (const [owner, name] of this.contents.servers.ownersOf(prefixed)) {
      if (owner === server || !this.contents.scope.allows(owner)) continue;
      hasOtherOwner = true;
      const other = this.byServer.get(owner);
      if (!other || other.byOwnName.has(name) || other.disabledNames.has(name)) return 'ambiguous';
    }
    if (!hasOtherOwner) return 'none';
    // A name that looks like a digest name may be the digest name of an entry of the other owner.
    return endsWithDigest(prefixed) ? 'ambiguous' : 'possible';
  }

  /**
   * Whether the prefixed name may also be a digest name of another server in the scope. This is possible if it ends
   * with an own name that looks like a digest name.
   */
  private hasOtherDigestOwner(server: string, prefixed: string): boolean {
    for (const owner of this.contents.servers.digestOwnersOf(prefixed))
      if (owner !== server && this.contents.scope.allows(owner)) return true;
    return false;
  }

  private partOf({ server }: CatalogEntry): ServerEntries {
    return this.byServer.get(server)!;
  }
}
