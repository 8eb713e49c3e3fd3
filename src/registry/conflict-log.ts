import type { Logger } from '@nestjs/common';
import { Catalog } from '../core/catalog/catalog.js';
import { newConflicts, type NameConflict } from '../core/naming/name-conflicts.js';
import { SingleFlight } from '../lib/queues/single-flight.js';
import { runSliced } from '../lib/slices/run-sliced.js';
import { sliceScheduler } from '../lib/slices/slices.js';

/** Maximum names of one server that are logged for one change of the catalog. Of the other names, only the number is logged. */
const MAX_LOGGED_NAMES = 20;

const MESSAGES: Readonly<Record<NameConflict['kind'], string>> = {
  unlisted: 'tool or prompt is not listed: its name belongs to another server',
  'equal-prefixed-names': 'tool or prompt is listed with a digest: another server has the same prefixed name',
};

/**
 * Logs each name conflict when it first appears in the catalog. Catalogs are compared in slices. After a burst of changes,
 * only the latest catalog is compared with the last one that was checked.
 */
export class ConflictLog {
  private checkedCatalog = Catalog.EMPTY;
  private latestCatalog = Catalog.EMPTY;
  private readonly checks = new SingleFlight(
    () => this.checkedCatalog === this.latestCatalog,
    () => this.check(this.latestCatalog),
  );

  constructor(private readonly logger: Pick<Logger, 'warn'>) {}

  /** Resolves when the conflicts of this catalog, or of a later one, are logged. */
  update(catalog: Catalog): Promise<void> {
    this.latestCatalog = catalog;
    return this.checks.bringUpToDate();
  }

  private async check(catalog: Catalog): Promise<void> {
    const yieldIfDue = sliceScheduler.start();
    for (const kind of ['tools', 'prompts'] as const)
      this.log(await runSliced(newConflicts(this.checkedCatalog[kind], catalog[kind]), yieldIfDue));
    this.checkedCatalog = catalog;
  }

  private log(conflicts: readonly NameConflict[]): void {
    const groups = new Map<string, { readonly conflict: NameConflict; count: number }>();
    for (const conflict of conflicts) {
      const { kind, server, name } = conflict;
      const group = groups.get(`${kind}\0${server}`) ?? { conflict, count: 0 };
      groups.set(`${kind}\0${server}`, group);
      group.count++;
      if (group.count <= MAX_LOGGED_NAMES) this.logger.warn({ message: MESSAGES[kind], server, name });
    }
    for (const { conflict, count } of groups.values())
      if (count > MAX_LOGGED_NAMES)
        this.logger.warn({
          message: `${MESSAGES[conflict.kind]} (further names)`,
          server: conflict.server,
          names: count - MAX_LOGGED_NAMES,
        });
  }
}
