import type { Steps } from '../../lib/slices/run-sliced.js';
import type { Scope } from '../scope.js';
import { META_TOOL_SERVER, type CatalogEntry, type ListedEntry } from './catalog-entry.js';
import { endsWithDigest, nameWithDigest, prefixedName, validName, nameWithoutDigest } from './naming.js';
import type { ServerEntries } from './server-entries.js';
import type { ServerIds } from './server-ids.js';

/** What the names of a scope depend on. */
interface ScopeContents {
  readonly scope: Scope;
  /** The servers of the scope that have listed, sorted by rank. */
  readonly parts: readonly ServerEntries[];
  readonly servers: ServerIds;
  readonly separator: string;
}

interface AssignedNames {
  /** By usual entry: the entry in this scope, if it has another name. */
  readonly renamed: ReadonlyMap<CatalogEntry, CatalogEntry>;
  /** Number of entries that the scope contains but does not list. */
  readonly unlistedCount: number;
}

/** The entries that claim a bare name, because it is their usual name, in the order of their servers. */
type ClaimsOf = (name: string) => readonly ListedEntry[];

const STEPS_BETWEEN_YIELDS = 128;

/**
 * The names that entries have in one scope. The rules:
 *
 * - Style `conflict`: an own name that several servers of the scope have gets the prefix of its server.
 * - Style `never`: the first server keeps the name; the entries of the others are not listed.
 * - A name that belongs to another server (`ServerIds`) counts as taken in both styles.
 * - A prefixed name that two servers of the scope have gets a digest on both of them. It also gets a digest if the other
 *   server may have it, because that server has not listed yet or its tool is disabled, or because the name looks like a
 *   name with digest of that server.
 *
 * The name of an entry depends on the servers of the scope alone, not on the order in which they listed. The time to name
 * one entry grows with the number of servers; `assignAll` names all entries, in steps.
 */
export class ScopedNames {
  private readonly byServer: ReadonlyMap<string, ServerEntries>;
  private readonly withBareNames: readonly ServerEntries[];
  private assigned: AssignedNames | undefined;

  constructor(private readonly contents: ScopeContents) {
    const { parts } = contents;
    this.byServer = new Map(parts.map((part) => [part.server, part]));
    this.withBareNames = parts.filter(({ bareNames }) => bareNames.size > 0);
  }

  /** The entry in this scope. It has no public name if the scope does not list it. */
  of(usual: CatalogEntry): CatalogEntry {
    if (this.assigned) return this.assigned.renamed.get(usual) ?? usual;
    return usual.withName(this.nameOf(this.partOf(usual), usual as ListedEntry, this.claimsOf));
  }

  /**
   * The entry of a server that has this name in the scope. A name with a digest also finds the entry that had it while
   * another server could have the same prefixed name (`mayHaveHadDigest`): clients may have stored that name.
   */
  listedAs(part: ServerEntries, name: string): CatalogEntry | undefined {
    const usual = part.byPublicName.get(name);
    if (usual && this.of(usual) === usual) return usual;
    for (const candidate of this.candidates(part, name)) {
      const entry = this.of(candidate);
      if (entry.publicName === name || this.mayHaveHadDigest(entry, name)) return entry;
    }
    return undefined;
  }

  /** The entries that claim this bare name and are not listed, because another server has it. */
  unlistedAs(name: string): CatalogEntry[] {
    const claims = this.claimsOf(name);
    return claims.filter((entry) => {
      const part = this.partOf(entry);
      return part.style === 'never' && this.isTaken(part, entry, () => claims);
    });
  }

  /** This entry and the others with the same prefixed name, as far as they have a digest. Empty if there are no others. */
  withEqualPrefixedName({ server, ownName }: CatalogEntry): CatalogEntry[] {
    const prefixed = prefixedName(server, this.contents.separator, ownName);
    const equal = [...this.contents.servers.ownersOf(prefixed)].flatMap(
      ([owner, own]) => this.byServer.get(owner)?.byOwnName.get(own) ?? [],
    );
    if (equal.length < 2) return [];
    return equal.filter(
      (entry) => this.of(entry).publicName === nameWithDigest(prefixed, entry.server, entry.ownName),
    );
  }

  /** Names the entries of all servers, which lists need. */
  *assignAll(): Steps<AssignedNames> {
    if (this.assigned) return this.assigned;
    const renamed = new Map<CatalogEntry, CatalogEntry>();
    let unlistedCount = 0;
    let step = 0;
    const claims = yield* this.collectClaims();
    const overlapping = this.overlappingServers();
    for (const part of this.contents.parts)
      for (const entry of overlapping.has(part.server) ? part.listed : part.unsettled) {
        if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
        const name = this.nameOf(part, entry, (bare) => claims.get(bare) ?? []);
        if (name === entry.publicName) continue;
        renamed.set(entry, entry.withName(name));
        if (name === undefined) unlistedCount++;
      }
    return (this.assigned ??= { renamed, unlistedCount });
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
    for (const { unsettled, byPublicName } of this.contents.parts)
      for (const entry of unsettled) {
        if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
        // In style `never`, two entries of a server may have the same usual name. Only one of them can claim it.
        if (byPublicName.get(entry.publicName) !== entry) continue;
        const claims = all.get(entry.publicName);
        if (claims) claims.push(entry);
        else all.set(entry.publicName, [entry]);
      }
    return all;
  }

  private readonly claimsOf = (name: string): ListedEntry[] => {
    const owners = this.withBareNames.filter(({ bareNames }) => bareNames.has(name));
    return owners.flatMap(({ byPublicName }) => (byPublicName.get(name) as ListedEntry | undefined) ?? []);
  };

  /** Entries of a server that may have this name in the scope, although it is not their usual name. */
  private candidates({ server, byOwnName, byDigestName }: ServerEntries, name: string): CatalogEntry[] {
    const prefix = prefixedName(server, this.contents.separator, '');
    const ownName = name.startsWith(prefix) ? name.slice(prefix.length) : '';
    const plainName = endsWithDigest(ownName) ? nameWithoutDigest(ownName) : '';
    const found = [byOwnName.get(ownName), byOwnName.get(plainName), byDigestName.get(name)];
    return found.filter((entry) => entry !== undefined);
  }

  private nameOf(part: ServerEntries, entry: ListedEntry, claimsOf: ClaimsOf): string | undefined {
    const { server, style } = part;
    const isBare = style === 'never' || (style === 'conflict' && entry.publicName === entry.ownName);
    if (isBare && !this.isTaken(part, entry, claimsOf)) return entry.publicName;
    if (style === 'never') return undefined;
    const prefixed = prefixedName(server, this.contents.separator, entry.ownName);
    const name = isBare ? validName(prefixed, server, entry.ownName) : entry.publicName;
    return name === prefixed && this.ambiguityOf(server, prefixed) === 'ambiguous'
      ? nameWithDigest(prefixed, server, entry.ownName)
      : name;
  }

  private isTaken({ server, style }: ServerEntries, entry: ListedEntry, claimsOf: ClaimsOf): boolean {
    if (server === META_TOOL_SERVER) return false;
    if (this.contents.servers.belongsToOther(entry.publicName, server)) return true;
    const claims = claimsOf(entry.publicName);
    if (claims.length <= 1) return false;
    if (style === 'conflict') return true;
    const firstClaim = claims.find((claim) => this.partOf(claim).style === 'never');
    return firstClaim !== entry;
  }

  /** Whether the entry gets this name when another server lists the same prefixed name. */
  private mayHaveHadDigest({ server, ownName, publicName }: CatalogEntry, name: string): boolean {
    const prefixed = prefixedName(server, this.contents.separator, ownName);
    return (
      publicName === prefixed &&
      name === nameWithDigest(prefixed, server, ownName) &&
      this.ambiguityOf(server, prefixed) === 'possible'
    );
  }

  /**
   * Whether the prefixed name of an entry of the server may be the name of another entry in the scope. `possible`: not now,
   * but another server could list such an entry.
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
    return endsWithDigest(prefixed) ? 'ambiguous' : 'possible';
  }

  /** Whether the name may be a name with digest of another server in the scope. The own name cannot be told from a digest. */
  private hasOtherDigestOwner(server: string, name: string): boolean {
    for (const owner of this.contents.servers.digestOwnersOf(name))
      if (owner !== server && this.contents.scope.allows(owner)) return true;
    return false;
  }

  private partOf({ server }: CatalogEntry): ServerEntries {
    return this.byServer.get(server)!;
  }
}
