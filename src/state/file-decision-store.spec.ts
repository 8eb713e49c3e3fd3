import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { decisionStoreContract } from '../../test/contract/decision-store.contract.js';
import { openState } from '../../test/kit/state-store.js';
import { unprivileged } from '../../test/kit/state-unprivileged.js';
import { tempDir } from '../../test/kit/temp-dir.js';
import { decideServer } from './decisions.js';
import type { Decisions } from './decision-store.js';
import { StateError } from './state-error.js';

decisionStoreContract('FileDecisionStore', () => {
  const directory = tempDir();
  return () => openState(directory);
});

const disable =
  (id: string) =>
  (decisions: Decisions): Decisions =>
    decideServer(decisions, id, () => ({ enabled: false }));

let directory = '';
const path = (name: string): string => join(directory, name);
const removeClaims = (): void => {
  for (const name of readdirSync(directory)) if (name.startsWith('lock-')) rmSync(path(name));
};

beforeEach(() => {
  directory = tempDir();
});

describe('FileDecisionStore', () => {
  it('refuses a directory that another process uses', async () => {
    await openState(directory);
    await expect(openState(directory)).rejects.toThrow(StateError);
  });

  it('leaves only the current and the previous version in the directory', async () => {
    writeFileSync(path('state.json.tmp'), 'of a crash');
    const { state, close } = await openState(directory);
    expect(readdirSync(directory)).toEqual([expect.stringMatching(/^lock-/)]);
    for (const id of ['a', 'b']) await state.update(disable(id));
    await close();
    expect(readdirSync(directory).toSorted()).toEqual(['state.json', 'state.json.bak']);
  });

  it('writes nothing for a change without effect', async () => {
    const { state } = await openState(directory);
    await state.update(disable('a'));
    const { mtimeMs, ino } = statSync(path('state.json'));
    await state.update(disable('a'));
    expect(statSync(path('state.json'))).toMatchObject({ mtimeMs, ino });
  });

  it('logs that it uses the previous version', async () => {
    const { state, close } = await openState(directory);
    for (const id of ['a', 'b']) await state.update(disable(id));
    await close();
    writeFileSync(path('state.json'), 'damaged');
    const next = await openState(directory);
    expect([...next.state.current.servers.keys()]).toEqual(['a']);
    expect(next.logged).toEqual([expect.stringContaining('it is not a JSON object; using')]);
  });

  it('logs the error of a failing listener', async () => {
    const { state, logged } = await openState(directory);
    state.onChange(() => {
      throw new Error('broken');
    });
    await state.update(disable('a'));
    expect(logged).toEqual([expect.stringContaining('Error: broken')]);
  });
});

describe('FileDecisionStore on a failing disk', () => {
  it('changes and announces nothing while the disk is full, and works again afterwards', async () => {
    const { state } = await openState(directory);
    const before = await state.update(disable('a'));
    const revisions: number[] = [];
    state.onChange(({ revision }) => revisions.push(revision));
    symlinkSync('/dev/full', path('state.json.tmp'));
    await expect(state.update(disable('b'))).rejects.toMatchObject({ kind: 'storage-full' });
    expect(state.current).toBe(before);
    expect(revisions).toEqual([]);
    expect((await state.update(disable('b'))).revision).toBe(2);
    expect(revisions).toEqual([2]);
  });

  it('reads decisions from a read-only directory and accepts changes once it is writable', async () => {
    const first = await openState(directory);
    await first.state.update(disable('a'));
    await first.close();
    chmodSync(directory, 0o555);
    await unprivileged(directory, async () => {
      const { state, logged } = await openState(directory);
      expect(logged).toEqual([
        expect.stringContaining('admin changes are refused until stateDir can be written'),
      ]);
      expect([...state.current.servers.keys()]).toEqual(['a']);
      await expect(state.update(disable('b'))).rejects.toMatchObject({ kind: 'storage-unavailable' });
      expect(state.current.revision).toBe(1);
      chmodSync(directory, 0o700);
      expect((await state.update(disable('b'))).revision).toBe(2);
    });
  });

  it('keeps its decisions when the file cannot grow, and saves a smaller file', () => {
    // Limits files to 16 blocks of 512 bytes: a larger file is written up to the limit.
    const script = `ulimit -f 16; exec "${process.execPath}" test/kit/state-until-full.mjs "${directory}"`;
    const { stdout } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
    const outcome = JSON.parse(stdout) as Record<string, unknown>;
    expect(outcome).toMatchObject({ kind: 'storage-full', sameAsBefore: true, leftOver: [] });
    expect(outcome['stored']).toBe(outcome['revision']);
    expect(outcome['afterShrinking']).toBe(Number(outcome['revision']) + 1);
  });
});

describe('FileDecisionStore after losing the lock', () => {
  it('refuses changes while another gateway holds the lock, and then continues from the decisions of that gateway', async () => {
    const first = await openState(directory);
    await first.state.update(disable('a'));
    removeClaims();
    const other = await openState(directory);
    await other.state.update(disable('b'));
    await expect(first.state.update(disable('c'))).rejects.toMatchObject({
      kind: 'storage-unavailable',
      message: expect.stringContaining('another gateway uses it'),
    });
    expect([...first.state.current.servers.keys()]).toEqual(['a']);
    await other.close();
    const revisions: number[] = [];
    first.state.onChange(({ revision }) => revisions.push(revision));
    const { servers } = await first.state.update(disable('c'));
    expect([...servers.keys()]).toEqual(['a', 'b', 'c']);
    expect(revisions).toEqual([2, 3]);
  });

  it('keeps its decisions when the directory was emptied', async () => {
    const { state } = await openState(directory);
    await state.update(disable('a'));
    for (const name of readdirSync(directory)) rmSync(path(name));
    const { revision, servers } = await state.update(disable('b'));
    expect([revision, ...servers.keys()]).toEqual([2, 'a', 'b']);
  });

  it('refuses changes while the file of the other gateway is unreadable', async () => {
    const { state } = await openState(directory);
    await state.update(disable('a'));
    removeClaims();
    writeFileSync(path('state.json'), '{"schemaVersion":3}');
    const refused = { kind: 'storage-unavailable', message: expect.stringContaining('a later Gatehouse') };
    await expect(state.update(disable('b'))).rejects.toMatchObject(refused);
    await expect(state.update(disable('b'))).rejects.toMatchObject(refused);
  });
});
