import type { Steps } from '../../lib/slices/run-sliced.js';
import { sortSteps } from '../../lib/slices/sliced-sort.js';
import { uiUrisIn } from '../resources/public-uris.js';
import { CatalogEntry, type Definition, type ListedEntry } from './catalog-entry.js';
import { NameAssignment, NameClaim } from './name-assignment.js';
import { NameTable, type ServerEntries } from './name-table.js';
import type { NamingStyle } from './naming.js';

/** The tools, or the prompts, of one server. Each own name occurs once. */
export interface NamedOffer {
  readonly server: string;
  /** Position of the server in the configuration. */
  readonly rank: number;
  readonly style: NamingStyle;
  readonly definitions: readonly Definition[];
}

const STEPS_BETWEEN_YIELDS = 128;

/**
 * Builds the table of all tools, or all prompts. A change takes time for the server that changed and for the servers
 * whose names change with it; the parts of all other servers are reused from the previous table.
 */
export class NameTableBuilder {
  private readonly assignment: NameAssignment<DefinitionClaim>;
  private readonly parts = new Map<string, ServerEntries>();
  private readonly offers = new Map<string, NamedOffer>();
  private current: NameTable;

  constructor(separator: string) {
    this.assignment = new NameAssignment(separator);
    this.current = new NameTable([], separator);
  }

  /** The table after the last job that ended. The same object as before when nothing changed. */
  get table(): NameTable {
    return this.current;
  }

  *put(offer: NamedOffer): Steps {
    const { server, rank, style } = offer;
    const old = this.offers.get(server);
    const keepsClaims = old?.rank === rank && old.style === style;
    if (keepsClaims && old.definitions === offer.definitions) return;
    if (!keepsClaims) yield* this.removeClaims(server);
    this.offers.set(server, offer);
    const names = new Set<string>();
    let isChanged = !old;
    for (const definition of offer.definitions) {
      if (names.size % STEPS_BETWEEN_YIELDS === STEPS_BETWEEN_YIELDS - 1) yield;
      names.add(definition.name);
      const claim = this.assignment.claimsOf(server)?.get(definition.name);
      if (claim) {
        if (claim.definition.text !== definition.text) isChanged = true;
        claim.definition = definition;
      } else this.assignment.add(new DefinitionClaim(offer, definition));
    }
    yield* this.removeClaims(server, names);
    yield* this.rebuildParts(isChanged ? server : undefined);
  }

  *remove(server: string): Steps {
    if (!this.offers.delete(server)) return;
    yield* this.removeClaims(server);
    yield* this.rebuildParts();
  }

  private *removeClaims(server: string, except: ReadonlySet<string> = new Set()): Steps {
    let step = 0;
    for (const claim of this.assignment.claimsOf(server)?.values() ?? []) {
      if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
      if (!except.has(claim.ownName)) this.assignment.remove(claim);
    }
  }

  /** Rebuilds the parts of the servers with changed names, and of `changed`, whose definitions changed. */
  private *rebuildParts(changed?: string): Steps {
    const servers = new Set(this.assignment.takeChanged());
    if (changed !== undefined) servers.add(changed);
    for (const server of servers) {
      const offer = this.offers.get(server);
      if (offer && this.assignment.claimsOf(server)) this.parts.set(server, yield* this.createPart(offer));
      else this.parts.delete(server);
    }
    const parts = [...this.parts.values()].toSorted(
      (a, b) => a.rank - b.rank || (a.server < b.server ? -1 : 1),
    );
    this.current = this.current.withParts(parts);
  }

  private *createPart({ server, rank }: NamedOffer): Steps<ServerEntries> {
    const old = this.parts.get(server);
    const unsorted: ListedEntry[] = [];
    const unlisted: CatalogEntry[] = [];
    const byOwnName = new Map<string, CatalogEntry>();
    const byPublicName = new Map<string, CatalogEntry>();
    const uiUris = new Set<string>();
    for (const claim of this.assignment.claimsOf(server)?.values() ?? []) {
      if (byOwnName.size % STEPS_BETWEEN_YIELDS === STEPS_BETWEEN_YIELDS - 1) yield;
      const entry = claim.toEntry(old?.byOwnName.get(claim.ownName));
      byOwnName.set(entry.ownName, entry);
      for (const uri of uiUrisIn(entry.definition.text)) uiUris.add(uri);
      if (isListed(entry)) {
        unsorted.push(entry);
        byPublicName.set(entry.publicName, entry);
      } else unlisted.push(entry);
    }
    const sorted = yield* sortSteps(unsorted, (a, b) => (a.publicName < b.publicName ? -1 : 1));
    const listed = old && hasSameItems(old.listed, sorted) ? old.listed : sorted;
    if (old && old.rank === rank && listed === old.listed && hasSameItems(unlisted, old.unlisted)) return old;
    return { server, rank, listed, unlisted, byPublicName, byOwnName, uiUris };
  }
}

class DefinitionClaim extends NameClaim {
  definition: Definition;

  constructor({ server, rank, style }: NamedOffer, definition: Definition) {
    super(server, rank, style, definition.name);
    this.definition = definition;
  }

  /** Returns the old entry if its name and definition are the same. */
  toEntry(old: CatalogEntry | undefined): CatalogEntry {
    const entry = new CatalogEntry(this.server, this.ownName, this.publicName, this.definition);
    return old?.isSame(entry) ? old : entry;
  }
}

const isListed = (entry: CatalogEntry): entry is ListedEntry => entry.publicName !== undefined;

const hasSameItems = <Item>(a: readonly Item[], b: readonly Item[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index]);
