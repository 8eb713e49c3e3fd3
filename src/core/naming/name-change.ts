import type { Scope } from '../scope.js';
import type { CatalogEntry } from './catalog-entry.js';
import type { NameTable } from './name-table.js';
import type { ServerEntries } from './server-entries.js';

/**
 * If a server has more changed entries than this, the change counts as visible in every scope, and the names of the entries
 * are not compared.
 */
const MAX_COMPARED_ENTRIES = 100;

/** The entries of one server that a change may affect. */
interface ChangedEntries {
  readonly removed: readonly CatalogEntry[];
  readonly added: readonly CatalogEntry[];
  /** Entries that both tables have, and whose name in a scope may have changed. */
  readonly perhapsRenamed: readonly CatalogEntry[];
}

/**
 * Decides which scopes see a change of the tools, or prompts, of some servers. In style `never`, a scope does not list
 * an entry whose name belongs to another server. If a scope lists none of the entries that changed, it sees no change.
 */
export class NameChange {
  /** By changed server. `visible`: the change is visible in every scope that contains the server. */
  private readonly changes: ReadonlyMap<string, ChangedEntries | 'visible'>;

  constructor(
    private readonly previous: NameTable,
    private readonly current: NameTable,
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
    const [before, after] = [this.previous.view(scope), this.current.view(scope)];
    return changes.some(
      (change) =>
        change === 'visible' ||
        change.removed.some((entry) => before.listedEntry(entry)) ||
        change.added.some((entry) => after.listedEntry(entry)) ||
        change.perhapsRenamed.some((entry) => before.listedEntry(entry) !== after.listedEntry(entry)),
    );
  }

  private changeOf(server: string): ChangedEntries | 'visible' {
    const [old, now] = [this.previous.part(server), this.current.part(server)];
    const styles = [old?.style, now?.style];
    if (!styles.includes('never') || !this.current.hasSameServers(this.previous)) return 'visible';
    // If the server has listed for the first time, or has no list any more, names of other servers may gain or lose a
    // digest.
    if ((!old || !now) && this.current.hasOverlap(server)) return 'visible';
    const removed = entriesMissingIn(now, old);
    const added = entriesMissingIn(old, now);
    const hasNewRankOrStyle = old && now && (old.rank !== now.rank || old.style !== now.style);
    const perhapsRenamed = hasNewRankOrStyle
      ? now.scopeDependent.filter((entry) => hasEntry(old, entry))
      : [];
    const isTooLong = removed.length + added.length + perhapsRenamed.length > MAX_COMPARED_ENTRIES;
    return isTooLong ? 'visible' : { removed, added, perhapsRenamed };
  }
}

/** The entries of `part` that `other` does not have. Stops when there are too many to compare. */
function entriesMissingIn(other: ServerEntries | undefined, part: ServerEntries | undefined): CatalogEntry[] {
  const missing: CatalogEntry[] = [];
  for (const entry of part?.listed ?? []) {
    if (hasEntry(other, entry)) continue;
    missing.push(entry);
    if (missing.length > MAX_COMPARED_ENTRIES) break;
  }
  return missing;
}

const hasEntry = (part: ServerEntries | undefined, entry: CatalogEntry): boolean =>
  part?.byOwnName.get(entry.ownName) === entry;
