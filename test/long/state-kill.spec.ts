import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { buildSync } from 'esbuild';
import { verifyAudit } from '../../src/state/audit/verify-audit.js';
import type { Decisions } from '../../src/state/decision-store.js';
import { onCleanup } from '../kit/cleanup.js';
import { openState } from '../kit/state-store.js';
import { tempDir } from '../kit/temp-dir.js';

/** The writer, bundled to one file, because it then starts faster. */
const WRITER = bundle('test/kit/state-writer.mjs');
const KILLS = 500;
/** Concurrent series of kills. Each series has its own directory. */
const WORKERS = Math.max(4, 2 * availableParallelism());
/** Time for about three changes. */
const MAX_WRITING_MS = 15;
/** The share of writers that are killed at any time after their start; the others are killed after their first write. */
const EARLY_SHARE = 0.1;
const MAX_EARLY_MS = 200;

function bundle(program: string): string {
  const outfile = join(tempDir(), 'program.mjs');
  buildSync({ entryPoints: [program], outfile, bundle: true, platform: 'node', format: 'esm' });
  return outfile;
}

interface Acknowledged {
  readonly revision: number;
  readonly seq: number;
}

/** Starts a writer and kills it after a random time; returns the last change that it acknowledged. */
async function killWriter(directory: string): Promise<Acknowledged | undefined> {
  const child = spawn(process.execPath, [WRITER, directory], {
    // An empty environment keeps the start short: there are no extra certificates to read.
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onCleanup(() => child.kill('SIGKILL'));
  const closed = once(child, 'close');
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  if (Math.random() < EARLY_SHARE) await pause(Math.random() * MAX_EARLY_MS);
  else
    await Promise.race([closed, once(child.stdout, 'data')]).then(() =>
      pause(Math.random() * MAX_WRITING_MS),
    );
  child.kill('SIGKILL');
  const [, signal] = (await closed) as [null, string];
  if (signal !== 'SIGKILL') throw new Error('the writer ended by itself');
  const [revision, seq] = printed.split('\n').at(-2)?.split(' ').map(Number) ?? [];
  return revision !== undefined && seq !== undefined ? { revision, seq } : undefined;
}

/** Whether every part of the state belongs to its revision. */
function isConsistent({ revision, servers }: Decisions): boolean {
  if (revision === 0) return servers.size === 0;
  const { enabled, definition } = servers.get('counter') ?? {};
  const marks = definition?.['marks'] as number[];
  return marks.length === 500 && marks.every((mark) => mark === revision) && enabled === (revision % 2 === 0);
}

describe('state of a killed gateway', () => {
  it(`is intact and contains every acknowledged change, ${KILLS} times out of ${KILLS}`, async () => {
    let kills = 0;
    let duringWrite = 0;
    const wrong: unknown[] = [];

    const check = async (directory: string, last: Acknowledged): Promise<Acknowledged> => {
      if (readdirSync(directory).includes('state.json.tmp')) duringWrite++;
      const verification = await verifyAudit(join(directory, 'audit.jsonl'));
      const { state, logged, close } = await openState(directory);
      await close();
      const { current } = state;
      const seq = verification.ok ? verification.entries : -1;
      const isRight = isConsistent(current) && current.revision >= last.revision && seq >= last.seq;
      if (!isRight || logged.length > 0) wrong.push({ last, current, verification, logged });
      return { revision: current.revision, seq };
    };

    const killWriters = async (): Promise<void> => {
      const directory = tempDir();
      let last = { revision: 0, seq: 0 };
      while (kills++ < KILLS) last = await check(directory, (await killWriter(directory)) ?? last);
    };

    await Promise.all(Array.from({ length: WORKERS }, killWriters));
    expect(wrong).toEqual([]);
    // Enough kills have interrupted a write.
    expect(duringWrite).toBeGreaterThan(KILLS / 20);
  }, 300_000);
});
