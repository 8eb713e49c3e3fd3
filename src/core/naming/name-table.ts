import type { SharedJson } from '../../lib/json-text/json-text.js';
import { mergeRuns } from '../../lib/sorted/merge-runs.js';
import { PageCache, pageText, type Paged, type SignCursor } from '../catalog/list-page.js';
import type { Scope } from '../scope.js';
import { META_TOOL_SERVER, type CatalogEntry, type ListedEntry } from './catalog-entry.js';
import { splitPrefixedName } from './naming.js';

/** The tools, or the prompts, of one server. Immutable. */
export interface ServerEntries {
  readonly server: string;
  readonly rank: number;
  /** Sorted by public name. The same array as before when no listed entry changed. */
  readonly listed: readonly ListedEntry[];
  /** Entries without a public name, because the name belongs to another server. */
  readonly unlisted: readonly CatalogEntry[];
  readonly byPublicName: ReadonlyMap<string, CatalogEntry>;
  readonly byOwnName: ReadonlyMap<string, CatalogEntry>;
  /** URIs of user interfaces that the definitions of tools refer to. */
  readonly uiUris: ReadonlySet<string>;
}

/** All tools, or all prompts, of all servers under their public names. Immutable. */
export class NameTable {
  private readonly views = new Map<string, NameView>();

  constructor(
    /** Sorted by rank. */
    private readonly parts: readonly ServerEntries[],
    private readonly separator: string,
  ) {}

  static readonly EMPTY = new NameTable([], '__');

  /** The same table when it has exactly these parts, so that its pages stay. */
  withParts(parts: readonly ServerEntries[]): NameTable {
    const isSame =
      parts.length === this.parts.length && parts.every((part, index) => part === this.parts[index]);
    return isSame ? this : new NameTable(parts, this.separator);
  }

  without(server: string): NameTable {
    return this.withParts(this.parts.filter((part) => part.server !== server));
  }

  /** The entries that a scope sees. Created once per scope key. */
  view(scope: Scope): NameView {
    let view = this.views.get(scope.key);
    if (!view) {
      const isVisible = ({ server }: ServerEntries): boolean =>
        server === META_TOOL_SERVER || scope.allows(server);
      view = new NameView(this.parts.filter(isVisible), this.separator);
      this.views.set(scope.key, view);
    }
    return view;
  }

  /** Entries without a public name that were listed, or did not exist, in the previous table. */
  newlyUnlisted(previous: NameTable): readonly CatalogEntry[] {
    const before = previous.partsByServer();
    return this.parts.flatMap((part) => {
      const old = before.get(part.server);
      if (old === part || part.unlisted.length === 0) return [];
      const known = new Set(old?.unlisted);
      return part.unlisted.filter((entry) => !known.has(entry));
    });
  }

  /** The servers whose part of the list differs between the two tables. The order of a server's own list does not matter. */
  changedServers(previous: NameTable): Set<string> {
    if (previous === this) return new Set();
    const [before, after] = [previous.partsByServer(), this.partsByServer()];
    const differs = (server: string): boolean => {
      const [old = [], now = []] = [before.get(server)?.listed, after.get(server)?.listed];
      return !isSameList(old, now);
    };
    return new Set([...before.keys(), ...after.keys()].filter(differs));
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

  private partsByServer(): Map<string, ServerEntries> {
    return new Map(this.parts.map((part) => [part.server, part]));
  }
}

/** The part of a table that one scope sees. */
class NameView implements Paged {
  private readonly pages = new PageCache();
  private readonly found = new Map<string, CatalogEntry>();
  private readonly byServer: ReadonlyMap<string, ServerEntries>;

  constructor(
    private readonly parts: readonly ServerEntries[],
    private readonly separator: string,
  ) {
    this.byServer = new Map(parts.map((part) => [part.server, part]));
  }

  /** Finds by public name, else by prefixed name, else by own name if only one server in this view has it. */
  find(name: string): CatalogEntry | undefined {
    let entry = this.found.get(name);
    if (!entry) {
      entry = this.findListed(name) ?? this.findPrefixed(name) ?? this.findOwn(name);
      if (entry) this.found.set(name, entry);
    }
    return entry;
  }

  /** Entries whose public name comes after this one, in order; only those of `server`, if given. */
  *after(name: string, server?: string): Iterable<ListedEntry> {
    const parts = this.parts.filter((part) => server === undefined || part.server === server);
    const runs = parts.map(({ listed }) => ({ items: listed, keyOf: publicNameOf }));
    yield* mergeRuns(runs, name);
  }

  /** The text of a page is built once and reused for every client. */
  page(member: string, after: string, size: number, signCursor: SignCursor): SharedJson {
    // The key contains the member, because tools and prompts share `NameTable.EMPTY`.
    return this.pages.get(`${member}\0${after}`, () => {
      const entries = firstOf(this.after(after), size + 1);
      const items = entries.slice(0, size).map(({ publicName, text }) => ({ key: publicName, text }));
      return pageText(member, items, entries.length > size, signCursor);
    });
  }

  private findListed(name: string): CatalogEntry | undefined {
    for (const { byPublicName } of this.parts) {
      const entry = byPublicName.get(name);
      if (entry) return entry;
    }
    return undefined;
  }

  /** Entries of several servers can have the same prefixed name. The server that is configured first wins. */
  private findPrefixed(name: string): CatalogEntry | undefined {
    let first: { rank: number; entry: CatalogEntry } | undefined;
    for (const [server, ownName] of splitPrefixedName(name, this.separator)) {
      const part = this.byServer.get(server);
      const entry = part?.byOwnName.get(ownName);
      if (entry && (!first || part!.rank < first.rank)) first = { rank: part!.rank, entry };
    }
    return first?.entry;
  }

  private findOwn(name: string): CatalogEntry | undefined {
    const entries = this.parts.flatMap(({ byOwnName }) => byOwnName.get(name) ?? []);
    return entries.length === 1 ? entries[0] : undefined;
  }
}

const isSameList = (a: readonly ListedEntry[], b: readonly ListedEntry[]): boolean =>
  a === b || (a.length === b.length && a.every((entry, index) => entry.isSame(b[index]!)));

const publicNameOf = ({ publicName }: ListedEntry): string => publicName;

function firstOf<Item>(items: Iterable<Item>, count: number): Item[] {
  const first: Item[] = [];
  for (const item of items) {
    if (first.push(item) === count) break;
  }
  return first;
}
