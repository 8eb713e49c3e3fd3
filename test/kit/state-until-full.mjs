import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decideServer } from '../../build/state/decisions.js';
import { DirectoryLock } from '../../build/state/directory-lock.js';
import { FileDecisionStore } from '../../build/state/file-decision-store.js';

/** Adds decisions until the file cannot grow, then removes some. Prints the outcome as JSON. */
const [directory = ''] = process.argv.slice(2);
const lock = new DirectoryLock(directory);
const state = await FileDecisionStore.open(directory, lock, console);

const decide = (server, definition) =>
  state.update((decisions) => decideServer(decisions, server, () => ({ definition })));

/** The decisions before the failed change, and the kind of its error. */
async function fill() {
  for (let i = 0; ; i++) {
    const before = state.current;
    const outcome = await decide(`server ${i}`, { note: 'x'.repeat(100) }).catch((error) => error);
    if (outcome instanceof Error) return { before, kind: outcome.kind };
  }
}

const { before, kind } = await fill();
const { revision } = state.current;
const stored = JSON.parse(readFileSync(join(directory, 'state.json'), 'utf8')).revision;
const leftOver = readdirSync(directory).filter((name) => name.endsWith('.tmp'));
const sameAsBefore = state.current === before;
const shrunk = await decide('server 0', {});
const outcome = { kind, revision, stored, leftOver, sameAsBefore };
process.stdout.write(JSON.stringify({ ...outcome, afterShrinking: shrunk.revision }));
await state.close();
await lock.release();
