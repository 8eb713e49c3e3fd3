import type { Scope } from '../scope.js';
import { META_TOOL_SERVER } from './catalog-entry.js';
import {
  endsWithDigest,
  isValidPublicName,
  nameWithoutDigest,
  prefixedName,
  splitPrefixedName,
  textBeforeDigest,
} from './naming.js';

/** The server id at the beginning of a name, and the rest of the name after the separator. */
type SplitName = readonly [server: string, ownName: string];

/**
 * The ids of all configured servers, including those that are disabled or have not listed yet. A name that starts with
 * the id of a server and the separator belongs to that server: it leads to no other server, even if its owner does not
 * have such an entry. Digest names (`nameWithDigest`) belong to a server in the same way.
 */
export class ServerIds {
  readonly ids: ReadonlySet<string>;
  /**
   * By server: the text with which its digest names begin. Only servers whose id and separator `textBeforeDigest` cuts or
   * changes.
   */
  private cachedAlteredPrefixes: ReadonlyMap<string, string> | undefined;
  /** The reverse of `alteredPrefixes`. */
  private serversByAlteredPrefix: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(
    ids: Iterable<string>,
    private readonly separator: string,
  ) {
    this.ids = new Set(ids);
  }

  isSame(other: ServerIds): boolean {
    if (this.ids.size !== other.ids.size) return false;
    for (const id of this.ids) if (!other.ids.has(id)) return false;
    return true;
  }

  has(server: string): boolean {
    return this.ids.has(server);
  }

  /**
   * The servers whose id and separator the name begins with, each with the rest of the name. There may be several, because an
   * id may begin with another id and the separator.
   */
  *ownersOf(name: string): Iterable<SplitName> {
    for (const split of splitPrefixedName(name, this.separator))
      if (split[0] !== META_TOOL_SERVER && this.ids.has(split[0])) yield split;
  }

  /** The servers that may have this digest name, although it does not begin with their id and separator. */
  *digestOwnersOf(name: string): Iterable<string> {
    if (!isValidPublicName(name) || !endsWithDigest(name)) return;
    this.serversByAlteredPrefix ??= this.reverseAlteredPrefixes();
    if (this.serversByAlteredPrefix.size === 0) return;
    const start = nameWithoutDigest(name);
    for (let end = 1; end <= start.length; end++)
      yield* this.serversByAlteredPrefix.get(start.slice(0, end)) ?? [];
  }

  /** Whether the name belongs to a server other than `server`, as a prefixed name or as a digest name. */
  belongsToOther(name: string, server: string): boolean {
    for (const [owner] of this.ownersOf(name)) if (owner !== server) return true;
    for (const owner of this.digestOwnersOf(name)) if (owner !== server) return true;
    return false;
  }

  /** Whether the digest names of the server begin with another text than its id and the separator. */
  hasAlteredPrefix(server: string): boolean {
    return alteredPrefixOf(server, this.separator) !== undefined;
  }

  /** The servers of a scope that can have the same prefixed or digest names as another server of the scope. */
  overlapping(scope: Scope): Set<string> {
    const found = new Set<string>();
    const allowed = [...this.ids].filter((id) => scope.allows(id));
    for (const id of allowed)
      for (const [owner] of this.ownersOf(`${id}${this.separator}`))
        if (owner !== id && scope.allows(owner)) found.add(id).add(owner);
    for (const [id, prefix] of this.alteredPrefixes) {
      if (!scope.allows(id)) continue;
      for (const other of allowed)
        if (other !== id && startAlike(prefix, `${other}${this.separator}`)) found.add(id).add(other);
    }
    return found;
  }

  /** Whether two servers can have the same prefixed or digest names. */
  overlap(a: string, b: string): boolean {
    if (a === b) return false;
    const [prefixA, prefixB] = [`${a}${this.separator}`, `${b}${this.separator}`];
    const [alteredA, alteredB] = [a, b].map((id) => alteredPrefixOf(id, this.separator));
    return (
      startAlike(prefixA, prefixB) ||
      (alteredA !== undefined && startAlike(alteredA, prefixB)) ||
      (alteredB !== undefined && startAlike(prefixA, alteredB))
    );
  }

  private get alteredPrefixes(): ReadonlyMap<string, string> {
    if (this.cachedAlteredPrefixes) return this.cachedAlteredPrefixes;
    const prefixes = new Map<string, string>();
    for (const id of this.ids) {
      const prefix = alteredPrefixOf(id, this.separator);
      if (prefix !== undefined) prefixes.set(id, prefix);
    }
    return (this.cachedAlteredPrefixes = prefixes);
  }

  private reverseAlteredPrefixes(): Map<string, string[]> {
    const servers = new Map<string, string[]>();
    for (const [id, prefix] of this.alteredPrefixes)
      servers.set(prefix, [...(servers.get(prefix) ?? []), id]);
    return servers;
  }
}

/** The beginning of digest names of the server; undefined if it is the unaltered id with the separator. */
function alteredPrefixOf(server: string, separator: string): string | undefined {
  const plain = prefixedName(server, separator, '');
  const prefix = textBeforeDigest(plain);
  return server === META_TOOL_SERVER || prefix === plain ? undefined : prefix;
}

/** Whether one of the texts is a prefix of the other. */
const startAlike = (one: string, other: string): boolean => one.startsWith(other) || other.startsWith(one);
