import type { Steps } from '../../lib/slices/run-sliced.js';
import { EVERYTHING } from '../scope.js';
import type { NameTable } from './name-table.js';
import type { ServerEntries } from './server-entries.js';

/** An entry whose name differs from the name that it would have without the other servers. */
export interface NameConflict {
  /** `unlisted`: in style `never`, the entry is not listed. `equal-prefixed-names`: its name has a digest. */
  readonly kind: 'unlisted' | 'equal-prefixed-names';
  readonly server: string;
  /** For `unlisted`, the own name of the entry. For `equal-prefixed-names`, the prefixed name without a digest. */
  readonly name: string;
}

const STEPS_BETWEEN_YIELDS = 16;

/**
 * The conflicts that the previous table did not have, in the scope of all servers. Checks only the entries of servers
 * that changed, or all entries if a server was added to the configuration or removed from it.
 */
export function* newConflicts(previous: NameTable, now: NameTable): Steps<NameConflict[]> {
  if (previous === now) return [];
  const alreadyChecked = new Set(now.hasSameServers(previous) ? previous.parts : []);
  const changed = now.parts.filter((part) => !alreadyChecked.has(part));
  return [...(yield* newEqualNames(previous, now, changed)), ...(yield* newUnlisted(previous, now, changed))];
}

function* newUnlisted(
  previous: NameTable,
  now: NameTable,
  changed: readonly ServerEntries[],
): Steps<Iterable<NameConflict>> {
  const [before, after] = [previous.view(EVERYTHING).names, now.view(EVERYTHING).names];
  const found = new Map<string, NameConflict>();
  if (!now.parts.some(({ style }) => style === 'never')) return [];
  for (const [index, { publicName }] of changed.flatMap(({ scopeDependent }) => scopeDependent).entries()) {
    if (index % STEPS_BETWEEN_YIELDS === 0) yield;
    const oldKeys = new Set(before.unlistedClaimants(publicName).map(keyOf));
    for (const entry of after.unlistedClaimants(publicName))
      if (!oldKeys.has(keyOf(entry)))
        found.set(keyOf(entry), { kind: 'unlisted', server: entry.server, name: entry.ownName });
  }
  return found.values();
}

function* newEqualNames(
  previous: NameTable,
  now: NameTable,
  changed: readonly ServerEntries[],
): Steps<Iterable<NameConflict>> {
  const [before, after] = [previous.view(EVERYTHING).names, now.view(EVERYTHING).names];
  const overlapping = after.overlappingServers();
  const found = new Map<string, NameConflict>();
  const entries = changed.filter(({ server }) => overlapping.has(server)).flatMap(({ listed }) => listed);
  for (const [index, entry] of entries.entries()) {
    if (index % STEPS_BETWEEN_YIELDS === 0) yield;
    for (const sharer of after.sharersOfPrefixedName(entry)) {
      const old = previous.part(sharer.server)?.byOwnName.get(sharer.ownName);
      const wasInConflict = old !== undefined && before.sharersOfPrefixedName(old).includes(old);
      if (wasInConflict) continue;
      const name = now.prefixedNameOf(sharer);
      found.set(keyOf(sharer), { kind: 'equal-prefixed-names', server: sharer.server, name });
    }
  }
  return found.values();
}

const keyOf = ({ server, ownName }: { readonly server: string; readonly ownName: string }): string =>
  `${server}\0${ownName}`;
