import type { Scope } from '../scope.js';
import { META_TOOL_SERVER, type CatalogEntry, type ListedEntry } from './catalog-entry.js';
import { NameView } from './name-view.js';
import { prefixedName } from './naming.js';
import type { ServerEntries } from './server-entries.js';
import { ServerIds } from './server-ids.js';

/** All tools, or all prompts, of all servers that have listed. Immutable. */
export class NameTable {
  /** By key of the scope. */
  private readonly views = new Map<string, NameView>();
  /** The configured servers, and those of the parts. */
  private readonly servers: ServerIds;

  constructor(
    /** The entries of each server that has listed, sorted by the rank of the server. */
    readonly parts: readonly ServerEntries[],
    private readonly separator: string,
    private readonly configured: ReadonlySet<string> = new Set(),
  ) {
    const listed = parts.map(({ server }) => server);
    this.servers = new ServerIds([...configured, ...listed], separator);
  }

  static readonly EMPTY = new NameTable([], '__');

  /** Returns this table if it has exactly these parts already, so that its cached pages remain in use. */
  withParts(parts: readonly ServerEntries[]): NameTable {
    const isSame =
      parts.length === this.parts.length && parts.every((part, index) => part === this.parts[index]);
    return isSame ? this : new NameTable(parts, this.separator, this.configured);
  }

  withServers(configured: ReadonlySet<string>): NameTable {
    return configured === this.configured ? this : new NameTable(this.parts, this.separator, configured);
  }

  without(server: string): NameTable {
    return this.only((other) => other !== server);
  }

  /** The table of some of the servers. */
  only(isIncluded: (server: string) => boolean): NameTable {
    return this.withParts(this.parts.filter(({ server }) => isIncluded(server)));
  }

  /** The entries that a scope sees. Created once per scope key. */
  view(scope: Scope): NameView {
    let view = this.views.get(scope.key);
    if (!view) {
      const isVisible = ({ server }: ServerEntries): boolean =>
        server === META_TOOL_SERVER || scope.allows(server);
      view = new NameView(this.parts.filter(isVisible), scope, this.servers, this.separator);
      this.views.set(scope.key, view);
    }
    return view;
  }

  part(server: string): ServerEntries | undefined {
    return this.parts.find((part) => part.server === server);
  }

  /** Whether both tables have the same server ids, so that a name belongs to the same servers (`ServerIds`) in both. */
  hasSameServers(other: NameTable): boolean {
    return this.servers.isSame(other.servers);
  }

  /** Whether another server can have the same prefixed names as this one. */
  hasOverlap(server: string): boolean {
    return [...this.servers.ids].some((other) => this.servers.overlap(server, other));
  }

  prefixedNameOf({ server, ownName }: CatalogEntry): string {
    return prefixedName(server, this.separator, ownName);
  }

  /** The servers that have listed. */
  get listedServers(): readonly string[] {
    return this.parts.map(({ server }) => server);
  }

  /** The entries of a server under their default names: the names that they have in a scope without conflicts. */
  entriesOf(server: string): readonly ListedEntry[] {
    return this.part(server)?.listed ?? [];
  }

  /**
   * The servers whose entries differ between the two tables. A scope that contains none of these servers sees the same
   * list in both tables. The order in which a server lists its entries does not matter.
   */
  changedServers(previous: NameTable): Set<string> {
    if (previous === this) return new Set();
    const [before, after] = [previous.partsByServer(), this.partsByServer()];
    const differs = (server: string): boolean => {
      const [old, now] = [before.get(server), after.get(server)];
      if (!isSameList(old?.listed ?? [], now?.listed ?? [])) return true;
      // Rank and style matter only to names that depend on the scope.
      const hasScopeDependent = (now?.scopeDependent.length ?? 0) > 0;
      return old !== now && hasScopeDependent && (old?.rank !== now?.rank || old?.style !== now?.style);
    };
    const changed = new Set([...before.keys(), ...after.keys()].filter(differs));
    for (const id of [...this.servers.ids, ...previous.servers.ids]) {
      const isNewOrGone = this.servers.has(id) !== previous.servers.has(id);
      const isListedInOne = before.has(id) !== after.has(id);
      if (isNewOrGone || isListedInOne)
        for (const server of this.affectedBy(id, isNewOrGone)) changed.add(server);
    }
    return changed;
  }

  /** Whether two scopes see different lists. */
  differsBetween(a: Scope, b: Scope): boolean {
    return this.parts.some(
      ({ server, listed }) =>
        listed.length > 0 && server !== META_TOOL_SERVER && a.allows(server) !== b.allows(server),
    );
  }

  /** Whether this URI is the user interface of a tool of this server. Servers need not list user interfaces as resources. */
  usesUi(server: string, uri: string): boolean {
    return this.part(server)?.uiUris.has(uri) ?? false;
  }

  /**
   * The servers whose names may change because the server `id` was added to the configuration or removed from it
   * (`isNewOrGone`), or because it has a list for the first time or has no list any more. A scope that contains none of
   * the returned servers sees the same names as before.
   */
  private *affectedBy(id: string, isNewOrGone: boolean): Iterable<string> {
    const isDigestOwner = isNewOrGone && this.servers.hasAlteredPrefix(id);
    for (const { server, listed, possibleOwners, mayHaveDigestOwners } of this.parts) {
      if (server === id || listed.length === 0 || server === META_TOOL_SERVER) continue;
      // In a scope with both servers, names of each may gain or lose a digest because of the other server.
      if (this.servers.overlap(server, id)) yield id;
      if (isNewOrGone && possibleOwners.has(id)) yield server;
      else if (isDigestOwner && mayHaveDigestOwners) yield server;
    }
  }

  private partsByServer(): Map<string, ServerEntries> {
    return new Map(this.parts.map((part) => [part.server, part]));
  }
}

const isSameList = (a: readonly ListedEntry[], b: readonly ListedEntry[]): boolean =>
  a === b || (a.length === b.length && a.every((entry, index) => entry.isSame(b[index]!)));
