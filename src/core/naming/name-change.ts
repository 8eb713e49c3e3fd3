import type { Scope } from '../scope.js';
import type { CatalogEntry } from './catalog-entry.js';
import type { NameTable } from './name-table.js';
import type { ServerEntries } from './server-entries.js';

/** Maximum number of changed entries of one server that are compared in each scope. A larger change counts as visible. */
const MAX_COMPARED = 100;

/** The entries of one server that a change may affect. */
interface ChangedEntries {
  readonly removed: readonly CatalogEntry[];
  readonly added: readonly CatalogEntry[];
  /** In both tables, but perhaps under other names. */
  readonly kept: readonly CatalogEntry[];
}

/**
 * Decides which scopes see a change of the tools, or prompts, of some servers. With style `never`, a scope may list
 * none of the entries that changed.
 */
export class NameChange {
  private readonly changes: ReadonlyMap<string, ChangedEntries | 'visible'>;

  constructor(
    private readonly previous: NameTable,
    private readonly now: NameTable,
    servers: Iterable<string>,
  ) {
    this.changes = new Map([...servers].map((server) => [server, this.changeOf(server)]));
  }

  /** Whether there may be a scope that contains a changed server and still sees the same list as before. */
  get mayBeInvisible(): boolean {
    return [...this.changes.values()].some((change) => change !== 'visible');
  }

  /** False when the scope sees the same list as before. */
  isVisible(scope: Scope): boolean {
    const changes = [...this.changes].flatMap(([server, change]) => (scope.allows(server) ? [change] : []));
    const [before, after] = [this.previous.view(scope), this.now.view(scope)];
    return changes.some(
      (change) =>
        change === 'visible' ||
        change.removed.some((entry) => before.listedEntry(entry)) ||
        change.added.some((entry) => after.listedEntry(entry)) ||
        change.kept.some((entry) => before.listedEntry(entry) !== after.listedEntry(entry)),
    );
  }

  private changeOf(server: string): ChangedEntries | 'visible' {
    const [old, now] = [this.previous.part(server), this.now.part(server)];
    const styles = [old?.style, now?.style];
    if (!styles.includes('never') || !this.now.hasSameServers(this.previous)) return 'visible';
    // A server that is new or gone changes which prefixed names of overlapping servers have a digest.
    if ((!old || !now) && this.now.hasOverlap(server)) return 'visible';
    const removed = differing(old, now);
    const added = differing(now, old);
    const hasSameRules = !old || !now || (old.rank === now.rank && old.style === now.style);
    const kept = hasSameRules ? [] : now.unsettled.filter((entry) => isIn(old, entry));
    const isLong = removed.length + added.length + kept.length > MAX_COMPARED;
    return isLong ? 'visible' : { removed, added, kept };
  }
}

/** The entries of `part` that `other` does not have. Stops when there are too many to compare. */
function differing(part: ServerEntries | undefined, other: ServerEntries | undefined): CatalogEntry[] {
  const found: CatalogEntry[] = [];
  for (const entry of part?.listed ?? [])
    if (!isIn(other, entry) && found.push(entry) > MAX_COMPARED) return found;
  return found;
}

const isIn = (part: ServerEntries | undefined, entry: CatalogEntry): boolean =>
  part?.byOwnName.get(entry.ownName) === entry;
