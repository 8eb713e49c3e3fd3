import type { Steps } from '../../lib/slices/run-sliced.js';
import { EVERYTHING } from '../scope.js';
import type { NameTable } from './name-table.js';
import type { ServerEntries } from './server-entries.js';

/** A name that an entry would have if no other server claimed it too. */
export interface NameConflict {
  readonly kind: 'unlisted' | 'equal-prefixed-names';
  readonly server: string;
  readonly name: string;
}

const STEPS_BETWEEN_YIELDS = 16;

/**
 * The conflicts that the previous table did not have, in the scope of all servers. Checks only the entries of servers
 * that changed, or all entries if a server was added to the configuration or removed from it.
 */
export function* newConflicts(previous: NameTable, now: NameTable): Steps<NameConflict[]> {
  if (previous === now) return [];
  const known = new Set(now.hasSameServers(previous) ? previous.parts : []);
  const changed = now.parts.filter((part) => !known.has(part));
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
  for (const [index, { publicName }] of changed.flatMap(({ unsettled }) => unsettled).entries()) {
    if (index % STEPS_BETWEEN_YIELDS === 0) yield;
    const known = new Set(before.unlistedAs(publicName).map(keyOf));
    for (const entry of after.unlistedAs(publicName))
      if (!known.has(keyOf(entry)))
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
    for (const equal of after.withEqualPrefixedName(entry)) {
      const old = previous.part(equal.server)?.byOwnName.get(equal.ownName);
      const wasInConflict = old !== undefined && before.withEqualPrefixedName(old).includes(old);
      if (wasInConflict) continue;
      const name = now.prefixedNameOf(equal);
      found.set(keyOf(equal), { kind: 'equal-prefixed-names', server: equal.server, name });
    }
  }
  return found.values();
}

const keyOf = ({ server, ownName }: { readonly server: string; readonly ownName: string }): string =>
  `${server}\0${ownName}`;
