import type { Scope } from '../scope.js';
import { META_TOOL_SERVER, type CatalogEntry, type ListedEntry } from './catalog-entry.js';
import { endsWithDigest, nameWithDigest, prefixedName, validName } from './naming.js';
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

/**
 * The entries that have other names in one scope than usual. The rules:
 *
 * - Style `conflict`: an own name that several servers of the scope have gets the prefix of its server.
 * - Style `never`: the first server keeps the name; the entries of the others are not listed.
 * - A name that belongs to another server (`ServerIds`) counts as taken in both styles.
 * - A prefixed name that is also the prefixed name of a tool of another server of the scope gets a digest on both servers.
 *   So does a prefixed name that may be the name of such a tool, because the other server has not listed yet or has the
 *   tool switched off.
 *
 * The name of an entry depends on the servers of the scope alone, not on the order in which they listed.
 */
export class ScopedNames {
  /** By usual entry: the entry in this scope. */
  readonly renamed = new Map<CatalogEntry, CatalogEntry>();
  /**
   * Renamed entries, by name. Also entries that have no digest now, but had one while another server could have the same
   * prefixed name, by their name with digest: clients may have stored it.
   */
  readonly byName = new Map<string, CatalogEntry>();
  /** Prefixed names that several servers of the scope have, with the entries that have a digest for that reason. */
  readonly equalPrefixedNames: { readonly name: string; readonly entry: CatalogEntry }[] = [];
  /** Number of entries that the scope contains but does not list. */
  unlistedCount = 0;
  private readonly byServer: ReadonlyMap<string, ServerEntries>;
  private readonly claims = new Map<string, ListedEntry[]>();

  constructor(private readonly contents: ScopeContents) {
    const { parts, servers, scope } = contents;
    this.byServer = new Map(parts.map((part) => [part.server, part]));
    const overlapping = servers.overlapping(scope);
    for (const { byPublicName } of parts.filter(isMetaToolPart))
      for (const name of byPublicName.keys())
        for (const [owner] of servers.ownersOf(name)) overlapping.add(owner);
    for (const { unsettled } of parts)
      for (const entry of unsettled) {
        const claims = this.claims.get(entry.publicName);
        if (claims) claims.push(entry);
        else this.claims.set(entry.publicName, [entry]);
      }
    for (const part of parts)
      if (overlapping.has(part.server)) this.nameEntries(part, part.listed, true);
      else this.nameEntries(part, part.unsettled, false);
  }

  private nameEntries(part: ServerEntries, entries: readonly ListedEntry[], isOverlapping: boolean): void {
    for (const entry of entries) {
      const name = this.nameOf(part, entry, isOverlapping);
      if (name === entry.publicName) continue;
      const renamed = entry.withName(name);
      this.renamed.set(entry, renamed);
      if (name === undefined) this.unlistedCount++;
      else this.byName.set(name, renamed);
    }
  }

  private nameOf(part: ServerEntries, entry: ListedEntry, isOverlapping: boolean): string | undefined {
    const { server, style } = part;
    const isBare = style === 'never' || (style === 'conflict' && entry.publicName === entry.ownName);
    if (isBare && !this.isTaken(part, entry)) return entry.publicName;
    if (style === 'never') return undefined;
    const prefixed = prefixedName(server, this.contents.separator, entry.ownName);
    const name = isBare ? validName(prefixed, server, entry.ownName) : entry.publicName;
    return isOverlapping && name === prefixed ? this.unambiguousName(entry, name) : name;
  }

  private isTaken({ server, style }: ServerEntries, entry: ListedEntry): boolean {
    if (server === META_TOOL_SERVER) return false;
    if (this.contents.servers.isReserved(entry.publicName, server)) return true;
    const claims = this.claims.get(entry.publicName) ?? [entry];
    if (style === 'conflict') return claims.length > 1;
    // The claims have the order of the servers.
    return claims.find((claim) => this.byServer.get(claim.server)!.style === 'never') !== entry;
  }

  /** The prefixed name of an entry, with a digest if it may be the name of another entry. */
  private unambiguousName(entry: ListedEntry, prefixed: string): string {
    const { server, ownName } = entry;
    const withDigest = nameWithDigest(prefixed, server, ownName);
    const isMetaTool = this.byServer.get(META_TOOL_SERVER)?.byPublicName.has(prefixed) ?? false;
    let isAmbiguous = isMetaTool;
    let hasOtherOwner = isMetaTool;
    for (const [owner, name] of this.contents.servers.ownersOf(prefixed)) {
      if (owner === server || !this.contents.scope.allows(owner)) continue;
      hasOtherOwner = true;
      const other = this.byServer.get(owner);
      if (other?.byOwnName.has(name)) this.equalPrefixedNames.push({ name: prefixed, entry });
      isAmbiguous ||= !other || other.byOwnName.has(name) || other.switchedOff.has(name);
    }
    if (isAmbiguous || (hasOtherOwner && endsWithDigest(prefixed))) return withDigest;
    if (hasOtherOwner) this.byName.set(withDigest, entry);
    return prefixed;
  }
}

const isMetaToolPart = ({ server }: ServerEntries): boolean => server === META_TOOL_SERVER;
