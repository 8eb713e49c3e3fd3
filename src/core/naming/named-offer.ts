import type { Steps } from '../../lib/slices/run-sliced.js';
import type { CatalogEntry, Definition, ListedEntry } from './catalog-entry.js';
import {
  endsWithDigest,
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
  /** Own names of disabled tools: the server has them, but no client can use them. */
  readonly disabledNames?: ReadonlySet<string>;
}

const STEPS_BETWEEN_YIELDS = 128;
const NO_NAMES: ReadonlySet<string> = new Set();

/** The names without a prefix that the server claims. */
export function* bareNamesOf(
  { server, style, definitions }: NamedOffer,
  separator: string,
): Steps<ReadonlySet<string>> {
  if (style === 'always') return NO_NAMES;
  const names = new Set<string>();
  const owned = new Set(definitions.map(({ name }) => name));
  const prefix = prefixedName(server, separator, '');
  /** Whether the own name equals the prefixed name of another definition. */
  const isPrefixedName = (ownName: string): boolean =>
    ownName.startsWith(prefix) && owned.has(ownName.slice(prefix.length));
  for (const { name: ownName } of definitions) {
    if (names.size % STEPS_BETWEEN_YIELDS === STEPS_BETWEEN_YIELDS - 1) yield;
    if (style === 'never') names.add(validName(ownName, server, ownName));
    else if (isValidPublicName(ownName) && !isPrefixedName(ownName)) names.add(ownName);
  }
  return names;
}

/** By own name: the usual name, which an entry has in a scope without conflicts. */
export function* usualNames(
  { server, style, definitions }: NamedOffer,
  bareNames: ReadonlySet<string>,
  separator: string,
): Steps<Map<string, string>> {
  const names = new Map<string, string>();
  const withDigest = new Set<string>();
  for (const { name: ownName } of definitions) {
    if (names.size % STEPS_BETWEEN_YIELDS === STEPS_BETWEEN_YIELDS - 1) yield;
    const isBare = style === 'never' || bareNames.has(ownName);
    const wanted = isBare ? ownName : prefixedName(server, separator, ownName);
    const name = validName(wanted, server, ownName);
    names.set(ownName, name);
    if (name !== wanted) withDigest.add(name);
  }
  // A valid name that equals the name with digest of another entry of the server gets a digest of its own.
  if (withDigest.size > 0 && style !== 'never')
    for (const [ownName, name] of names) {
      const isPlain = name === ownName || name === prefixedName(server, separator, ownName);
      if (isPlain && withDigest.has(name)) names.set(ownName, nameWithDigest(name, server, ownName));
    }
  return names;
}

/** See the members of `ServerEntries`. */
export function* possibleOwnersOf(
  unsettled: readonly ListedEntry[],
  separator: string,
): Steps<Pick<ServerEntries, 'possibleOwners' | 'mayHaveDigestOwners'>> {
  const possibleOwners = new Set<string>();
  let mayHaveDigestOwners = false;
  let step = 0;
  for (const { publicName } of unsettled) {
    if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
    for (const [server] of splitPrefixedName(publicName, separator)) possibleOwners.add(server);
    mayHaveDigestOwners ||= endsWithDigest(publicName);
  }
  return { possibleOwners, mayHaveDigestOwners };
}

/** See `ServerEntries.byDigestName`. */
export function* digestNames(
  { server, style }: NamedOffer,
  listed: readonly ListedEntry[],
  separator: string,
): Steps<ReadonlyMap<string, CatalogEntry>> {
  const names = new Map<string, CatalogEntry>();
  let step = 0;
  for (const entry of style === 'never' ? [] : listed) {
    if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
    const prefixed = prefixedName(server, separator, entry.ownName);
    if (!isChangedByDigest(prefixed)) continue;
    const name = nameWithDigest(prefixed, server, entry.ownName);
    if (name !== entry.publicName) names.set(name, entry);
  }
  return names;
}
