import type { Steps } from '../../lib/slices/run-sliced.js';
import { sortSteps } from '../../lib/slices/sliced-sort.js';
import { uiUrisIn } from '../resources/public-uris.js';
import { CatalogEntry, type Definition, type ListedEntry } from './catalog-entry.js';
import { NameTable } from './name-table.js';
import {
  isChangedByDigest,
  isValidPublicName,
  nameWithDigest,
  prefixedName,
  splitPrefixedName,
  validName,
  type NamingStyle,
} from './naming.js';
import type { ServerEntries } from './server-entries.js';

/** The tools, or the prompts, of one server. Each own name occurs once. */
export interface NamedOffer {
  readonly server: string;
  /** Position of the server in the configuration. */
  readonly rank: number;
  readonly style: NamingStyle;
  readonly definitions: readonly Definition[];
  /** Own names that the server has and that no client can use. */
  readonly switchedOff?: ReadonlySet<string>;
}

const STEPS_BETWEEN_YIELDS = 128;
const NO_NAMES: ReadonlySet<string> = new Set();

/**
 * Builds the table of all tools, or all prompts. A change rebuilds the part of the server that changed, and of each server
 * that is the only other owner of one of its bare names. All other parts are reused from the previous table.
 */
export class NameTableBuilder {
  private readonly parts = new Map<string, ServerEntries>();
  private readonly offers = new Map<string, NamedOffer>();
  /** By bare name, which has no prefix: the servers that may list an entry under it. */
  private readonly bareOwners = new Map<string, Set<string>>();
  private current: NameTable;

  constructor(private readonly separator: string) {
    this.current = new NameTable([], separator);
  }

  /** The table after the last job that ended. The same object as before when nothing changed. */
  get table(): NameTable {
    return this.current;
  }

  /** Replaces the ids of the configured servers. */
  setServers(ids: ReadonlySet<string>): void {
    this.current = this.current.withServers(ids);
  }

  *put(offer: NamedOffer): Steps {
    const { server, rank, style, definitions, switchedOff = NO_NAMES } = offer;
    const old = this.offers.get(server);
    if (
      old?.definitions === definitions &&
      old.rank === rank &&
      old.style === style &&
      hasSameNames(old.switchedOff ?? NO_NAMES, switchedOff)
    )
      return;
    this.offers.set(server, offer);
    yield* this.rebuildParts(yield* this.updateBareOwners(server, yield* this.bareNamesOf(offer)));
  }

  *remove(server: string): Steps {
    if (!this.offers.delete(server)) return;
    yield* this.rebuildParts(yield* this.updateBareOwners(server, NO_NAMES));
  }

  /** A builder with the same tables, to which changes can be made independently. No job may be running. */
  *fork(): Steps<NameTableBuilder> {
    const fork = new NameTableBuilder(this.separator);
    for (const [server, part] of this.parts) fork.parts.set(server, part);
    for (const [server, offer] of this.offers) fork.offers.set(server, offer);
    let step = 0;
    for (const [name, owners] of this.bareOwners) {
      if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
      fork.bareOwners.set(name, new Set(owners));
    }
    fork.current = this.current;
    return fork;
  }

  /** Returns the server, and the others for which one of its bare names became shared, or is shared no longer. */
  private *updateBareOwners(server: string, now: ReadonlySet<string>): Steps<Set<string>> {
    const changed = new Set([server]);
    const before = this.parts.get(server)?.bareNames ?? NO_NAMES;
    let step = 0;
    for (const name of before) {
      if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
      if (now.has(name)) continue;
      const owners = this.bareOwners.get(name)!;
      owners.delete(server);
      if (owners.size === 0) this.bareOwners.delete(name);
      else if (owners.size === 1) for (const owner of owners) changed.add(owner);
    }
    for (const name of now) {
      if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
      const owners = this.bareOwners.get(name);
      if (!owners) this.bareOwners.set(name, new Set([server]));
      else if (owners.add(server).size === 2) for (const owner of owners) changed.add(owner);
    }
    return changed;
  }

  private *bareNamesOf({ server, style, definitions }: NamedOffer): Steps<ReadonlySet<string>> {
    if (style === 'always') return NO_NAMES;
    const names = new Set<string>();
    const owned = new Set(definitions.map(({ name }) => name));
    for (const { name: ownName } of definitions) {
      if (names.size % STEPS_BETWEEN_YIELDS === STEPS_BETWEEN_YIELDS - 1) yield;
      const isPrefixedName = this.isPrefixedNameIn(server, owned, ownName);
      if (style === 'never') names.add(validName(ownName, server, ownName));
      else if (isValidPublicName(ownName) && !isPrefixedName) names.add(ownName);
    }
    return names;
  }

  /** Whether the own name equals the prefixed name of another definition of the same server. */
  private isPrefixedNameIn(server: string, owned: ReadonlySet<string>, ownName: string): boolean {
    const prefix = prefixedName(server, this.separator, '');
    return ownName.startsWith(prefix) && owned.has(ownName.slice(prefix.length));
  }

  private *rebuildParts(servers: Iterable<string>): Steps {
    for (const server of servers) {
      const offer = this.offers.get(server);
      if (offer) this.parts.set(server, yield* this.createPart(offer));
      else this.parts.delete(server);
    }
    const parts = [...this.parts.values()].toSorted(
      (a, b) => a.rank - b.rank || (a.server < b.server ? -1 : 1),
    );
    this.current = this.current.withParts(parts);
  }

  private *createPart(offer: NamedOffer): Steps<ServerEntries> {
    const { server, rank, style, definitions, switchedOff = NO_NAMES } = offer;
    const old = this.parts.get(server);
    const bareNames = yield* this.bareNamesOf(offer);
    const unsorted: ListedEntry[] = [];
    const byOwnName = new Map<string, CatalogEntry>();
    const byPublicName = new Map<string, CatalogEntry>();
    const uiUris = new Set<string>();
    const names = yield* this.usualNames(offer, bareNames);
    for (const definition of definitions) {
      if (byOwnName.size % STEPS_BETWEEN_YIELDS === STEPS_BETWEEN_YIELDS - 1) yield;
      const entry = new CatalogEntry(server, definition.name, names.get(definition.name), definition);
      const known = old?.byOwnName.get(definition.name);
      const reused = (known?.isSame(entry) ? known : entry) as ListedEntry;
      byOwnName.set(reused.ownName, reused);
      byPublicName.set(reused.publicName, reused);
      for (const uri of uiUrisIn(definition.text)) uiUris.add(uri);
      unsorted.push(reused);
    }
    const sorted = yield* sortSteps(unsorted, (a, b) => (a.publicName < b.publicName ? -1 : 1));
    const listed = old && hasSameItems(old.listed, sorted) ? old.listed : sorted;
    const unsettled = yield* this.unsettledIn(listed, bareNames);
    const isSame = old && old.rank === rank && old.style === style && listed === old.listed;
    if (isSame && hasSameItems(unsettled, old.unsettled) && hasSameNames(old.switchedOff, switchedOff))
      return old;
    return {
      server,
      rank,
      style,
      listed,
      unsettled,
      possibleOwners: yield* this.possibleOwnersOf(unsettled),
      bareNames,
      switchedOff,
      byPublicName,
      byDigestName: yield* this.digestNames(offer, listed),
      byOwnName,
      uiUris,
    };
  }

  /** By own name: the name in a scope without conflicts. */
  private *usualNames(offer: NamedOffer, bareNames: ReadonlySet<string>): Steps<Map<string, string>> {
    const { server, style, definitions } = offer;
    const names = new Map<string, string>();
    const withDigest = new Set<string>();
    for (const { name: ownName } of definitions) {
      if (names.size % STEPS_BETWEEN_YIELDS === STEPS_BETWEEN_YIELDS - 1) yield;
      const isBare = style === 'never' || bareNames.has(ownName);
      const wanted = isBare ? ownName : prefixedName(server, this.separator, ownName);
      const name = validName(wanted, server, ownName);
      names.set(ownName, name);
      if (name !== wanted) withDigest.add(name);
    }
    // A valid name that equals the name with digest of another entry of the server gets a digest of its own.
    if (withDigest.size > 0 && style !== 'never')
      for (const [ownName, name] of names) {
        const isPlain = name === ownName || name === prefixedName(server, this.separator, ownName);
        if (isPlain && withDigest.has(name)) names.set(ownName, nameWithDigest(name, server, ownName));
      }
    return names;
  }

  private *possibleOwnersOf(unsettled: readonly ListedEntry[]): Steps<ReadonlySet<string>> {
    const owners = new Set<string>();
    let step = 0;
    for (const { publicName } of unsettled) {
      if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
      for (const [server] of splitPrefixedName(publicName, this.separator)) owners.add(server);
    }
    return owners;
  }

  private *digestNames(
    { server, style }: NamedOffer,
    listed: readonly ListedEntry[],
  ): Steps<ReadonlyMap<string, CatalogEntry>> {
    const names = new Map<string, CatalogEntry>();
    let step = 0;
    for (const entry of style === 'never' ? [] : listed) {
      if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
      const prefixed = prefixedName(server, this.separator, entry.ownName);
      if (!isChangedByDigest(prefixed)) continue;
      const name = nameWithDigest(prefixed, server, entry.ownName);
      if (name !== entry.publicName) names.set(name, entry);
    }
    return names;
  }

  /** The entries whose names in a scope depend on its other servers. */
  private *unsettledIn(
    listed: readonly ListedEntry[],
    bareNames: ReadonlySet<string>,
  ): Steps<readonly ListedEntry[]> {
    const unsettled: ListedEntry[] = [];
    if (bareNames.size === 0) return unsettled;
    let step = 0;
    for (const entry of listed) {
      if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
      const { publicName: name } = entry;
      if (!bareNames.has(name)) continue;
      if (name.includes(this.separator) || this.bareOwners.get(name)!.size > 1) unsettled.push(entry);
    }
    return unsettled;
  }
}

const hasSameItems = <Item>(a: readonly Item[], b: readonly Item[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index]);

const hasSameNames = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a === b || (a.size === b.size && [...a].every((name) => b.has(name)));
