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

  /** Whether the name belongs to a server other than `server`. */
  belongsToOther(name: string, server: string): boolean {
    for (const [owner] of this.ownersOf(name)) if (owner !== server) return true;
    return false;
  }

  /** The servers of a scope that can have the same prefixed names as another server of the scope. */
  overlapping(scope: Scope): Set<string> {
    const found = new Set<string>();
    for (const id of this.ids) {
      if (!scope.allows(id)) continue;
      for (const [owner] of this.ownersOf(`${id}${this.separator}`))
        if (owner !== id && scope.allows(owner)) found.add(id).add(owner);
    }
    return found;
  }

  /** Whether two servers can have the same prefixed names. */
  overlap(a: string, b: string): boolean {
    const [one, other] = [`${a}${this.separator}`, `${b}${this.separator}`];
    return a !== b && (one.startsWith(other) || other.startsWith(one));
  }

  /** By the id and separator as names with digest have them: the servers, if this differs from the id and separator. */
  private collectDigestPrefixes(): Map<string, string[]> {
    const prefixes = new Map<string, string[]>();
    for (const id of this.ids) {
      const plain = prefixedName(id, this.separator, '');
      const prefix = textBeforeDigest(plain);
      if (id === META_TOOL_SERVER || prefix === plain) continue;
      prefixes.set(prefix, [...(prefixes.get(prefix) ?? []), id]);
    }
    return prefixes;
  }
}
