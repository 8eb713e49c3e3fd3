import type { SharedJson } from '../../lib/json-text/json-text.js';
import { firstAfter, PageCache, pageText, type Paged, type Seal } from '../catalog/list-page.js';
import { assignNames, prefixedName, type NamingStyle } from './naming.js';
import { publicText, SERVER_MARK } from '../catalog/public-text.js';
import { resourceForm } from '../resources/resource-uri.js';
import type { Scope } from '../scope.js';
import { withPublicUi } from '../resources/public-uris.js';

/** Something as its server listed it: its own name, or URI, and its definition as it was written. */
export interface Definition {
  readonly name: string;
  readonly text: string;
}

/** What one server offers of one kind. */
export interface Offer {
  readonly server: string;
  readonly style: NamingStyle;
  readonly definitions: readonly Definition[];
}

/** A definition under its public name. */
export interface Entry {
  readonly server: string;
  readonly own: string;
  /** What clients see; undefined when the name belongs to another server and no prefix is allowed. */
  readonly name: string | undefined;
  /** The definition as clients see it. */
  readonly text: string;
  readonly definition: Definition;
}

/** An entry that clients see. */
export type ListedEntry = Entry & { readonly name: string };

/** The server of what the gateway itself offers, in every scope. No configured server can have this id. */
export const HOUSE = '';
/** What clients are told of it. */
const HOUSE_NAME = 'gatehouse';

/** All tools, or all prompts, of all servers: who is called what. Immutable; a change builds a new one. */
export class NameTable {
  private readonly views = new Map<string, NameView>();

  private constructor(
    private readonly entries: readonly Entry[],
    private readonly separator: string,
    private readonly offers: readonly Offer[] = [],
  ) {}

  static readonly EMPTY = new NameTable([], '__');

  /**
   * Entries of `previous` whose definition and name are unchanged are taken over as they are, and so is the whole
   * table, with its pages, when nothing changed.
   */
  static build(offers: readonly Offer[], separator: string, previous = NameTable.EMPTY): NameTable {
    if (separator === previous.separator && sameOffers(offers, previous.offers)) return previous;
    const kept = new Map(previous.entries.map((entry) => [addressOf(entry), entry]));
    const claims = offers.flatMap(({ server, style, definitions }) =>
      definitions.map((definition) => ({ server, style, own: definition.name, definition })),
    );
    const names = assignNames(claims, separator);
    const entries = claims.map(({ server, own, definition }, index): Entry => {
      const name = names[index];
      const old = kept.get(addressOf({ server, own }));
      if (old && old.name === name && old.definition.text === definition.text) return old;
      return { server, own, name, definition, text: entryText(definition.text, server, name ?? own) };
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
        this.entries.filter(({ server }) => server === HOUSE || scope.allows(server)),
        this.separator,
      );
      this.views.set(scope.key, view);
    }
    return view;
  }

  /** Definitions that lost their name to another server and are listed nowhere. */
  get unlisted(): readonly Entry[] {
    return this.entries.filter((entry) => entry.name === undefined);
  }

  /** The servers whose part of the list differs between the two tables. In which order they list does not show. */
  changedServers(previous: NameTable): Set<string> {
    if (previous === this) return new Set();
    const before = previous.listedTexts();
    const after = this.listedTexts();
    const changed = new Set<string>();
    for (const { server, name } of [...this.entries, ...previous.entries])
      if (name !== undefined && before.get(name) !== after.get(name)) changed.add(server);
    return changed;
  }

  /** Whether two scopes see different lists. */
  differs(a: Scope, b: Scope): boolean {
    return this.entries.some(
      ({ name, server }) => name !== undefined && server !== HOUSE && a.allows(server) !== b.allows(server),
    );
  }

  private listedTexts(): Map<string, string> {
    return new Map(this.entries.filter(isListed).map(({ name, text }) => [name, text]));
  }
}

/** The part of a table that one scope sees. */
export class NameView implements Paged {
  /** Sorted by public name, so that a position in the list is a name and survives a change of the list. */
  readonly listed: readonly ListedEntry[];
  private readonly byName = new Map<string, Entry>();
  private readonly byPrefixedName = new Map<string, Entry>();
  private readonly byOwnName = new Map<string, Entry | 'ambiguous'>();
  private readonly pages = new PageCache();

  constructor(entries: readonly Entry[], separator: string) {
    this.listed = entries.filter(isListed).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      if (entry.name !== undefined) this.byName.set(entry.name, entry);
      const prefixed = prefixedName(entry.server, separator, entry.own);
      if (!this.byPrefixedName.has(prefixed)) this.byPrefixedName.set(prefixed, entry);
      this.byOwnName.set(entry.own, this.byOwnName.has(entry.own) ? 'ambiguous' : entry);
    }
  }

  get size(): number {
    return this.listed.length;
  }

  /** By the listed name, else by the prefixed name, else by the server's own name if only one has it here. */
  find(name: string): Entry | undefined {
    const entry = this.byName.get(name) ?? this.byPrefixedName.get(name) ?? this.byOwnName.get(name);
    return entry === 'ambiguous' ? undefined : entry;
  }

  /** As text that is built once and reused for every client. */
  page(member: string, after: string, size: number, seal: Seal): SharedJson {
    // Two lists share the empty table.
    return this.pages.get(`${member}\0${after}`, () => {
      const from = after === '' ? 0 : firstAfter(this.listed, after, ({ name }) => name);
      const items = this.listed.slice(from, from + size).map(({ name, text }) => ({ key: name, text }));
      return pageText(member, items, from + size < this.listed.length, seal);
    });
  }
}

const isListed = (entry: Entry): entry is ListedEntry => entry.name !== undefined;

/** A server lists each of its own names once. */
const addressOf = ({ server, own }: Pick<Entry, 'server' | 'own'>): string => `${server}\0${own}`;

/** As clients see it: under its public name, with the mark of its server, and with user interfaces they can read. */
const entryText = (text: string, server: string, name: string): string =>
  server === HOUSE
    ? publicText(text, 'name', name, { [SERVER_MARK]: HOUSE_NAME })
    : withPublicUi(publicText(text, 'name', name, { [SERVER_MARK]: server }), (uri) =>
        resourceForm({ server, uri }),
      );

const sameOffers = (a: readonly Offer[], b: readonly Offer[]): boolean =>
  a.length === b.length &&
  a.every(({ server, style, definitions }, index) => {
    const other = b[index]!;
    return server === other.server && style === other.style && definitions === other.definitions;
  });
