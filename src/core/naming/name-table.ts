import type { SharedJson } from '../../lib/json-text/json-text.js';
import { PageCache, pageText, type Paged, type SealCursor } from '../catalog/list-page.js';
import { assignNames, prefixedName, type NamingStyle } from './naming.js';
import { publicText, SERVER_MARK } from '../catalog/public-text.js';
import { resourceForm } from '../resources/resource-uri.js';
import type { Scope } from '../scope.js';
import { withPublicUi } from '../resources/public-uris.js';
import { upperBound } from '../../lib/sorted/binary-search.js';

/** Something as its server listed it: its own name, or URI, and its definition as it was written. */
export interface Definition {
  readonly name: string;
  readonly text: string;
}

/** What one server offers of one kind. */
export interface NamedOffer {
  readonly server: string;
  readonly style: NamingStyle;
  readonly definitions: readonly Definition[];
}

/** A definition under its public name. */
export interface CatalogEntry {
  readonly server: string;
  readonly ownName: string;
  /** What clients see; undefined when the name belongs to another server and no prefix is allowed. */
  readonly publicName: string | undefined;
  /** The definition as clients see it. */
  readonly text: string;
  readonly definition: Definition;
}

/** An entry that clients see. */
export type ListedEntry = CatalogEntry & { readonly publicName: string };

/** The server of what the gateway itself offers, in every scope. No configured server can have this id. */
export const META_TOOL_SERVER = '';
/** What clients are told of it. */
const GATEWAY_NAME = 'gatehouse';

/** All tools, or all prompts, of all servers: who is called what. Immutable; a change builds a new one. */
export class NameTable {
  private readonly views = new Map<string, NameView>();

  private constructor(
    private readonly entries: readonly CatalogEntry[],
    private readonly separator: string,
    private readonly offers: readonly NamedOffer[] = [],
  ) {}

  static readonly EMPTY = new NameTable([], '__');

  /**
   * Entries of `previous` whose definition and name are unchanged are taken over as they are, and so is the whole
   * table, with its pages, when nothing changed.
   */
  static build(offers: readonly NamedOffer[], separator: string, previous = NameTable.EMPTY): NameTable {
    if (separator === previous.separator && sameOffers(offers, previous.offers)) return previous;
    const kept = new Map(previous.entries.map((entry) => [addressOf(entry), entry]));
    const claims = offers.flatMap(({ server, style, definitions }) =>
      definitions.map((definition) => ({ server, style, ownName: definition.name, definition })),
    );
    const names = assignNames(claims, separator);
    const entries = claims.map(({ server, ownName, definition }, index): CatalogEntry => {
      const publicName = names[index];
      const old = kept.get(addressOf({ server, ownName }));
      if (old && old.publicName === publicName && old.definition.text === definition.text) return old;
      return {
        server,
        ownName,
        publicName,
        definition,
        text: entryText(definition.text, server, publicName ?? ownName),
      };
    });
    const isSame =
      separator === previous.separator &&
      entries.length === previous.entries.length &&
      entries.every((entry, index) => entry === previous.entries[index]);
    return isSame ? previous : new NameTable(entries, separator, offers);
  }

  /** What a scope sees; built once, kept as long as the table lives. */
  view(scope: Scope): NameView {
    let view = this.views.get(scope.key);
    if (!view) {
      view = new NameView(
        this.entries.filter(({ server }) => server === META_TOOL_SERVER || scope.allows(server)),
        this.separator,
      );
      this.views.set(scope.key, view);
    }
    return view;
  }

  /** Definitions that lost their name to another server and are listed nowhere. */
  get unlisted(): readonly CatalogEntry[] {
    return this.entries.filter((entry) => entry.publicName === undefined);
  }

  /** The servers whose part of the list differs between the two tables. In which order they list does not show. */
  changedServers(previous: NameTable): Set<string> {
    if (previous === this) return new Set();
    const before = previous.listedTexts();
    const after = this.listedTexts();
    const changed = new Set<string>();
    for (const { server, publicName } of [...this.entries, ...previous.entries])
      if (publicName !== undefined && before.get(publicName) !== after.get(publicName)) changed.add(server);
    return changed;
  }

  /** Whether two scopes see different lists. */
  differs(a: Scope, b: Scope): boolean {
    return this.entries.some(
      ({ publicName, server }) =>
        publicName !== undefined && server !== META_TOOL_SERVER && a.allows(server) !== b.allows(server),
    );
  }

  private listedTexts(): Map<string, string> {
    return new Map(this.entries.filter(isListed).map(({ publicName, text }) => [publicName, text]));
  }
}

/** The part of a table that one scope sees. */
export class NameView implements Paged {
  /** Sorted by public name, so that a position in the list is a name and survives a change of the list. */
  readonly listed: readonly ListedEntry[];
  private readonly byName = new Map<string, CatalogEntry>();
  private readonly byPrefixedName = new Map<string, CatalogEntry>();
  private readonly byOwnName = new Map<string, CatalogEntry | 'ambiguous'>();
  private readonly pages = new PageCache();

  constructor(entries: readonly CatalogEntry[], separator: string) {
    this.listed = entries.filter(isListed).toSorted((a, b) => (a.publicName < b.publicName ? -1 : 1));
    for (const entry of entries) {
      if (entry.publicName !== undefined) this.byName.set(entry.publicName, entry);
      const prefixed = prefixedName(entry.server, separator, entry.ownName);
      if (!this.byPrefixedName.has(prefixed)) this.byPrefixedName.set(prefixed, entry);
      this.byOwnName.set(entry.ownName, this.byOwnName.has(entry.ownName) ? 'ambiguous' : entry);
    }
  }

  get size(): number {
    return this.listed.length;
  }

  /** By the listed name, else by the prefixed name, else by the server's own name if only one has it here. */
  find(name: string): CatalogEntry | undefined {
    const entry = this.byName.get(name) ?? this.byPrefixedName.get(name) ?? this.byOwnName.get(name);
    return entry === 'ambiguous' ? undefined : entry;
  }

  /** As text that is built once and reused for every client. */
  page(member: string, after: string, size: number, seal: SealCursor): SharedJson {
    // Two lists share the empty table.
    return this.pages.get(`${member}\0${after}`, () => {
      const from = after === '' ? 0 : upperBound(this.listed, after, ({ publicName }) => publicName);
      const items = this.listed
        .slice(from, from + size)
        .map(({ publicName, text }) => ({ key: publicName, text }));
      return pageText(member, items, from + size < this.listed.length, seal);
    });
  }
}

const isListed = (entry: CatalogEntry): entry is ListedEntry => entry.publicName !== undefined;

/** A server lists each of its own names once. */
const addressOf = ({ server, ownName }: Pick<CatalogEntry, 'server' | 'ownName'>): string =>
  `${server}\0${ownName}`;

/** As clients see it: under its public name, with the mark of its server, and with user interfaces they can read. */
const entryText = (text: string, server: string, name: string): string =>
  server === META_TOOL_SERVER
    ? publicText(text, 'name', name, { [SERVER_MARK]: GATEWAY_NAME })
    : withPublicUi(publicText(text, 'name', name, { [SERVER_MARK]: server }), (uri) =>
        resourceForm({ server, uri }),
      );

const sameOffers = (a: readonly NamedOffer[], b: readonly NamedOffer[]): boolean =>
  a.length === b.length &&
  a.every(({ server, style, definitions }, index) => {
    const other = b[index]!;
    return server === other.server && style === other.style && definitions === other.definitions;
  });
