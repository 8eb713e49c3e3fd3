import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { verifyAudit } from '../../src/admin/audit/verify-audit.js';
import type { Decisions } from '../../src/state/decision-store.js';
import { onCleanup } from '../kit/cleanup.js';
import { asOneFile } from '../kit/one-file.js';
import { openState } from '../kit/state-store.js';
import { tempDir } from '../kit/temp-dir.js';

const WRITER = asOneFile('test/kit/state-writer.mjs');
const KILLS = 500;
/** Each with a directory of its own, in which one writer after the other is killed. */
const LANES = Math.max(4, 2 * availableParallelism());
/** About three changes long. */
const LIFE_MS = 15;
/** So many are killed at any moment since their start, and not only among their writes. */
const EARLY = 0.1;
const EARLY_MS = 200;

interface Acknowledged {
  readonly revision: number;
  readonly seq: number;
}

/** Lets a writer live for a while. What it had acknowledged when it was killed, if anything. */
async function lifeOf(directory: string): Promise<Acknowledged | undefined> {
  const child = spawn(process.execPath, [WRITER, directory], {
    // Without what makes a start slow here and there, such as certificates to read.
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onCleanup(() => child.kill('SIGKILL'));
  const closed = once(child, 'close');
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  if (Math.random() < EARLY) await pause(Math.random() * EARLY_MS);
  else await Promise.race([closed, once(child.stdout, 'data')]).then(() => pause(Math.random() * LIFE_MS));
  child.kill('SIGKILL');
  const [, signal] = (await closed) as [null, string];
  if (signal !== 'SIGKILL') throw new Error('the writer ended by itself');
  const [revision, seq] = printed.split('\n').at(-2)?.split(' ').map(Number) ?? [];
  return revision !== undefined && seq !== undefined ? { revision, seq } : undefined;
}

/** Whether every part of the state belongs to its revision. */
function isOfOnePiece({ revision, servers }: Decisions): boolean {
  if (revision === 0) return servers.size === 0;
  const { enabled, definition } = servers.get('counter') ?? {};
  const marks = definition?.['marks'] as number[];
  return marks.length === 500 && marks.every((mark) => mark === revision) && enabled === (revision % 2 === 0);
}

describe('state of a killed gateway', () => {
  it(`is intact and contains every acknowledged change, ${KILLS} times out of ${KILLS}`, async () => {
    let kills = 0;
    let inTheMiddle = 0;
    const wrong: unknown[] = [];

    const check = async (directory: string, last: Acknowledged): Promise<Acknowledged> => {
      if (readdirSync(directory).includes('state.json.tmp')) inTheMiddle++;
      const verdict = await verifyAudit(join(directory, 'audit.jsonl'));
      const { state, said, end } = await openState(directory);
      await end();
      const { current } = state;
      const seq = verdict.ok ? verdict.entries : -1;
      const isRight = isOfOnePiece(current) && current.revision >= last.revision && seq >= last.seq;
      if (!isRight || said.length > 0) wrong.push({ last, current, verdict, said });
      return { revision: current.revision, seq };
    };

    const killInTurn = async (): Promise<void> => {
      const directory = tempDir();
      let last = { revision: 0, seq: 0 };
      while (kills++ < KILLS) last = await check(directory, (await lifeOf(directory)) ?? last);
    };

    await Promise.all(Array.from({ length: LANES }, killInTurn));
    expect(wrong).toEqual([]);
    // Otherwise the kills came at moments that show nothing.
    expect(inTheMiddle).toBeGreaterThan(KILLS / 20);
  }, 180_000);
});
