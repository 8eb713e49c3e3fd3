import { writeSync } from 'node:fs';
import { FileAuditLog } from '../../build/state/audit/file-audit-log.js';
import { decideServer } from '../../build/state/decisions.js';
import { DirectoryLock } from '../../build/state/directory-lock.js';
import { FileDecisionStore } from '../../build/state/file-decision-store.js';

/**
 * Changes the state of a directory as the admin API does, repeatedly, until it is killed. Prints every acknowledged change
 * at once: a change that was printed before the kill must be in the state after it.
 */
const [directory = ''] = process.argv.slice(2);
const lock = new DirectoryLock(directory);
const state = await FileDecisionStore.open(directory, lock, console);
const audit = await FileAuditLog.open(directory, lock);

for (;;) {
  const requestId = `request ${state.current.revision + 1}`;
  const event = { actor: 'test', action: 'write', target: 'counter', outcome: 'accepted', requestId };
  const { seq } = await audit.append(event);
  const { revision } = await state.update((decisions) => {
    const next = decisions.revision + 1;
    // Several disk blocks; every part contains its revision.
    const definition = { marks: Array.from({ length: 500 }, () => next) };
    return decideServer(decisions, 'counter', () => ({ enabled: next % 2 === 0, definition }));
  });
  writeSync(1, `${revision} ${seq}\n`);
}
