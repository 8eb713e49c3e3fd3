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

/** A server id at the beginning of a name, and the rest of the name: the own name at that server. */
type Owner = readonly [server: string, ownName: string];

/**
 * The ids of all configured servers, also of those that are disabled or have not listed yet. A name that starts with
 * the id of a server and the separator belongs to that server, whether or not it has such an entry: the name leads to
 * no other server.
 */
export class ServerIds {
  private readonly ids: ReadonlySet<string>;
  /** By server: its id and separator as names with digest have them, if they are cut or changed there. */
  private changedPrefixes: ReadonlyMap<string, string> | undefined;
  private digestPrefixes: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(
    ids: Iterable<string>,
    private readonly separator: string,
  ) {
    this.ids = new Set(ids);
  }

  [Symbol.iterator](): Iterator<string> {
    return this.ids.values();
  }

  isSame(other: ServerIds): boolean {
    if (this.ids.size !== other.ids.size) return false;
    for (const id of this.ids) if (!other.ids.has(id)) return false;
    return true;
  }

  has(server: string): boolean {
    return this.ids.has(server);
  }

  /** The servers to which a name belongs. Several, if the id of one starts with the id of another and the separator. */
  *ownersOf(name: string): Iterable<Owner> {
    for (const owner of splitPrefixedName(name, this.separator))
      if (owner[0] !== META_TOOL_SERVER && this.ids.has(owner[0])) yield owner;
  }

  /** The servers whose names with digest begin like this one, although their id and separator are cut or changed in them. */
  *digestOwnersOf(name: string): Iterable<string> {
    if (!isValidPublicName(name) || !endsWithDigest(name)) return;
    this.digestPrefixes ??= this.collectDigestPrefixes();
    if (this.digestPrefixes.size === 0) return;
    const text = nameWithoutDigest(name);
    for (let end = 1; end <= text.length; end++) yield* this.digestPrefixes.get(text.slice(0, end)) ?? [];
  }

  /** Whether the name belongs to a server other than `server`, also as a name with digest. */
  belongsToOther(name: string, server: string): boolean {
    for (const [owner] of this.ownersOf(name)) if (owner !== server) return true;
    for (const owner of this.digestOwnersOf(name)) if (owner !== server) return true;
    return false;
  }

  /** Whether names with digest of the server do not begin with its id and the separator. */
  isChangedByDigest(server: string): boolean {
    return changedPrefixOf(server, this.separator) !== undefined;
  }

  /** The servers of a scope that can have the same prefixed names as another server of the scope. */
  overlapping(scope: Scope): Set<string> {
    const found = new Set<string>();
    for (const id of this.ids) {
      if (!scope.allows(id)) continue;
      for (const [owner] of this.ownersOf(`${id}${this.separator}`))
        if (owner !== id && scope.allows(owner)) found.add(id).add(owner);
    }
    for (const [id, prefix] of this.prefixesChangedByDigest)
      for (const other of scope.allows(id) ? this.ids : [])
        if (other !== id && scope.allows(other) && startAlike(prefix, `${other}${this.separator}`))
          found.add(id).add(other);
    return found;
  }

  /** Whether two servers can have the same prefixed names, with or without digest. */
  overlap(a: string, b: string): boolean {
    if (a === b) return false;
    const [one, other] = [`${a}${this.separator}`, `${b}${this.separator}`];
    const [oneChanged, otherChanged] = [a, b].map((id) => changedPrefixOf(id, this.separator));
    return (
      startAlike(one, other) ||
      (oneChanged !== undefined && startAlike(oneChanged, other)) ||
      (otherChanged !== undefined && startAlike(one, otherChanged))
    );
  }

  private get prefixesChangedByDigest(): ReadonlyMap<string, string> {
    if (this.changedPrefixes) return this.changedPrefixes;
    const prefixes = new Map<string, string>();
    for (const id of this.ids) {
      const prefix = changedPrefixOf(id, this.separator);
      if (prefix !== undefined) prefixes.set(id, prefix);
    }
    return (this.changedPrefixes = prefixes);
  }

  /** The servers by their changed prefixes. */
  private collectDigestPrefixes(): Map<string, string[]> {
    const servers = new Map<string, string[]>();
    for (const [id, prefix] of this.prefixesChangedByDigest)
      servers.set(prefix, [...(servers.get(prefix) ?? []), id]);
    return servers;
  }
}

/** The id and separator as names with digest have them; undefined if they are not cut or changed there. */
function changedPrefixOf(server: string, separator: string): string | undefined {
  const plain = prefixedName(server, separator, '');
  const prefix = textBeforeDigest(plain);
  return server === META_TOOL_SERVER || prefix === plain ? undefined : prefix;
}

const startAlike = (one: string, other: string): boolean => one.startsWith(other) || other.startsWith(one);
