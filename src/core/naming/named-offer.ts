import type { Steps } from '../../lib/slices/run-sliced.js';
import type { CatalogEntry, Definition, ListedEntry } from './catalog-entry.js';
import {
  endsWithDigest,
  isAlteredByDigest,
  isValidPublicName,
  nameWithDigest,
  prefixedName,
  splitPrefixedName,
  validOrDigestName,
  type NamingStyle,
} from './naming.js';
import type { ServerEntries } from './server-entries.js';

/** The tools, or the prompts, that one server offers, with the settings for their names. Each own name occurs once. */
export interface NamedOffer {
  readonly server: string;
  /** Position of the server in the configuration. */
  readonly rank: number;
  readonly style: NamingStyle;
  readonly definitions: readonly Definition[];
  /** Own names of tools that an administrator disabled. They are not among the definitions. */
  readonly disabledNames?: ReadonlySet<string>;
}

const STEPS_BETWEEN_YIELDS = 128;
const NO_NAMES: ReadonlySet<string> = new Set();

/** The bare names (names without a prefix) that the server claims for its definitions. */
export function* bareNamesOf(
  { server, style, definitions }: NamedOffer,
  separator: string,
): Steps<ReadonlySet<string>> {
  if (style === 'always') return NO_NAMES;
  const names = new Set<string>();
  const ownNames = new Set(definitions.map(({ name }) => name));
  const prefix = prefixedName(server, separator, '');
  /** Whether the own name equals the prefixed name of another definition. */
  const isPrefixedName = (ownName: string): boolean =>
    ownName.startsWith(prefix) && ownNames.has(ownName.slice(prefix.length));
  for (const { name: ownName } of definitions) {
    if ((names.size + 1) % STEPS_BETWEEN_YIELDS === 0) yield;
    if (style === 'never') names.add(validOrDigestName(ownName, server, ownName));
    else if (isValidPublicName(ownName) && !isPrefixedName(ownName)) names.add(ownName);
  }
  return names;
}

/** Returns, by own name, the default name of each definition: its public name in a scope without conflicts. */
export function* defaultNames(
  { server, style, definitions }: NamedOffer,
  bareNames: ReadonlySet<string>,
  separator: string,
): Steps<Map<string, string>> {
  const names = new Map<string, string>();
  const digestNames = new Set<string>();
  for (const { name: ownName } of definitions) {
    if ((names.size + 1) % STEPS_BETWEEN_YIELDS === 0) yield;
    const isBare = style === 'never' || bareNames.has(ownName);
    const plainName = isBare ? ownName : prefixedName(server, separator, ownName);
    const name = validOrDigestName(plainName, server, ownName);
    names.set(ownName, name);
    if (name !== plainName) digestNames.add(name);
  }
  // A valid name that happens to equal the digest name of another entry of the server gets a digest too.
  if (digestNames.size > 0 && style !== 'never')
    for (const [ownName, name] of names) {
      const isPlain = name === ownName || name === prefixedName(server, separator, ownName);
      if (isPlain && digestNames.has(name)) names.set(ownName, nameWithDigest(name, server, ownName));
    }
  return names;
}

/** The values of `ServerEntries.possibleOwners` and `ServerEntries.mayHaveDigestOwners`. */
export function* possibleOwnersOf(
  scopeDependent: readonly ListedEntry[],
  separator: string,
): Steps<Pick<ServerEntries, 'possibleOwners' | 'mayHaveDigestOwners'>> {
  const possibleOwners = new Set<string>();
  let mayHaveDigestOwners = false;
  let step = 0;
  for (const { publicName } of scopeDependent) {
    if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
    for (const [server] of splitPrefixedName(publicName, separator)) possibleOwners.add(server);
    mayHaveDigestOwners ||= endsWithDigest(publicName);
  }
  return { possibleOwners, mayHaveDigestOwners };
}

/** The value of `ServerEntries.byDigestName`. */
export function* entriesByDigestName(
  { server, style }: NamedOffer,
  listed: readonly ListedEntry[],
  separator: string,
): Steps<ReadonlyMap<string, CatalogEntry>> {
  const names = new Map<string, CatalogEntry>();
  let step = 0;
  for (const entry of style === 'never' ? [] : listed) {
    if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
    const prefixed = prefixedName(server, separator, entry.ownName);
    if (!isAlteredByDigest(prefixed)) continue;
    const name = nameWithDigest(prefixed, server, entry.ownName);
    if (name !== entry.publicName) names.set(name, entry);
  }
  return names;
}
