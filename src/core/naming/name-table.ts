import { EVERYTHING, type Scope } from '../scope.js';
import { META_TOOL_SERVER, type ListedEntry } from './catalog-entry.js';
import { NameView } from './name-view.js';
import type { ServerEntries } from './server-entries.js';
import { ServerIds } from './server-ids.js';

/** A name that an entry does not have because of another server. */
export interface NameConflict {
  readonly kind: 'unlisted' | 'equal-prefixed-names';
  readonly server: string;
  readonly name: string;
}

/** All tools, or all prompts, of all servers that have listed. Immutable. */
export class NameTable {
  private readonly views = new Map<string, NameView>();
  /** The configured servers, and those of the parts. */
  private readonly servers: ServerIds;

  constructor(
    /** Sorted by rank. */
    private readonly parts: readonly ServerEntries[],
    private readonly separator: string,
    private readonly configured: ReadonlySet<string> = new Set(),
  ) {
    const listed = parts.map(({ server }) => server);
    this.servers = new ServerIds([...configured, ...listed], separator);
  }

  static readonly EMPTY = new NameTable([], '__');

  /** The same table when it has exactly these parts, so that its pages stay. */
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

  /** The servers that have listed. */
  get listedServers(): readonly string[] {
    return this.parts.map(({ server }) => server);
  }

  /** The entries of a server under their usual names. */
  entriesOf(server: string): readonly ListedEntry[] {
    return this.parts.find((part) => part.server === server)?.listed ?? [];
  }

  /** The conflicts in the scope of all servers that the previous table did not have. */
  *newConflicts(previous: NameTable): Iterable<NameConflict> {
    if (previous === this) return;
    const [old, now] = [previous.view(EVERYTHING), this.view(EVERYTHING)];
    const known = new Set(old.names.equalPrefixedNames.map(({ name, entry }) => `${entry.server}\0${name}`));
    for (const { name, entry } of now.names.equalPrefixedNames)
      if (!known.has(`${entry.server}\0${name}`))
        yield { kind: 'equal-prefixed-names', server: entry.server, name };
    for (const { server, ownName, publicName } of now.names.renamed.values())
      if (publicName === undefined && !old.isUnlisted(server, ownName))
        yield { kind: 'unlisted', server, name: ownName };
  }

  /**
   * The servers whose entries differ between the two tables. A scope without any of them sees the same list in both. The
   * order of a server's own list does not matter.
   */
  changedServers(previous: NameTable): Set<string> {
    if (previous === this) return new Set();
    const [before, after] = [previous.partsByServer(), this.partsByServer()];
    const differs = (server: string): boolean => {
      const [old, now] = [before.get(server), after.get(server)];
      if (!isSameList(old?.listed ?? [], now?.listed ?? [])) return true;
      const isUnsettled = (now?.unsettled.length ?? 0) > 0;
      return old !== now && isUnsettled && (old?.rank !== now?.rank || old?.style !== now?.style);
    };
    const changed = new Set([...before.keys(), ...after.keys()].filter(differs));
    for (const id of [...this.servers, ...previous.servers]) {
      const isReservedInOne = this.servers.has(id) !== previous.servers.has(id);
      const isListedInOne = before.has(id) !== after.has(id);
      if (isReservedInOne || isListedInOne)
        for (const server of this.affectedBy(id, isReservedInOne)) changed.add(server);
    }
    return changed;
  }

  /** Whether two scopes see different lists. */
  differs(a: Scope, b: Scope): boolean {
    return this.parts.some(
      ({ server, listed }) =>
        listed.length > 0 && server !== META_TOOL_SERVER && a.allows(server) !== b.allows(server),
    );
  }

  /** Whether this URI is the user interface of a tool of this server. Servers need not list such a resource. */
  usesUi(server: string, uri: string): boolean {
    return this.parts.some((part) => part.server === server && part.uiUris.has(uri));
  }

  /**
   * Servers whose names may change because the server `id` was configured or removed, or has listed or no longer has a list.
   * A scope without any of them sees the same names as before.
   */
  private *affectedBy(id: string, isReservedInOne: boolean): Iterable<string> {
    const prefix = `${id}${this.separator}`;
    for (const { server, listed, unsettled } of this.parts) {
      if (server === id || listed.length === 0 || server === META_TOOL_SERVER) continue;
      if (this.servers.overlap(server, id)) yield id;
      if (isReservedInOne && unsettled.some(({ publicName }) => publicName.startsWith(prefix))) yield server;
    }
  }

  private partsByServer(): Map<string, ServerEntries> {
    return new Map(this.parts.map((part) => [part.server, part]));
  }
}

const isSameList = (a: readonly ListedEntry[], b: readonly ListedEntry[]): boolean =>
  a === b || (a.length === b.length && a.every((entry, index) => entry.isSame(b[index]!)));
