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
  it('does not share its directory', async () => {
    await openState(directory);
    await expect(openState(directory)).rejects.toThrow(StateError);
  });

  it('leaves nothing but the two versions', async () => {
    writeFileSync(path('state.json.tmp'), 'of a crash');
    const { state, end } = await openState(directory);
    expect(readdirSync(directory)).toEqual([expect.stringMatching(/^lock-/)]);
    for (const id of ['a', 'b']) await state.update(disable(id));
    await end();
    expect(readdirSync(directory).toSorted()).toEqual(['state.json', 'state.json.bak']);
  });

  it('writes nothing for a change that alters nothing', async () => {
    const { state } = await openState(directory);
    await state.update(disable('a'));
    const { mtimeMs, ino } = statSync(path('state.json'));
    await state.update(disable('a'));
    expect(statSync(path('state.json'))).toMatchObject({ mtimeMs, ino });
  });

  it('says that it goes on with the version before', async () => {
    const { state, end } = await openState(directory);
    for (const id of ['a', 'b']) await state.update(disable(id));
    await end();
    writeFileSync(path('state.json'), 'damaged');
    const next = await openState(directory);
    expect([...next.state.current.servers.keys()]).toEqual(['a']);
    expect(next.said).toEqual([expect.stringContaining('it is not a JSON object; using')]);
  });

  it('says which listener failed at what', async () => {
    const { state, said } = await openState(directory);
    state.onChange(() => {
      throw new Error('broken');
    });
    await state.update(disable('a'));
    expect(said).toEqual([expect.stringContaining('Error: broken')]);
  });
});

describe('FileDecisionStore, when the disk refuses', () => {
  it('changes nothing and tells nobody, and does as asked once there is room', async () => {
    const { state } = await openState(directory);
    const before = await state.update(disable('a'));
    const told: number[] = [];
    state.onChange(({ revision }) => told.push(revision));
    symlinkSync('/dev/full', path('state.json.tmp'));
    await expect(state.update(disable('b'))).rejects.toMatchObject({ kind: 'storage-full' });
    expect(state.current).toBe(before);
    expect(told).toEqual([]);
    expect((await state.update(disable('b'))).revision).toBe(2);
    expect(told).toEqual([2]);
  });

  it('serves what it knows from a directory that is read-only, and takes changes once it is not', async () => {
    const first = await openState(directory);
    await first.state.update(disable('a'));
    await first.end();
    chmodSync(directory, 0o555);
    await unprivileged(directory, async () => {
      const { state, said } = await openState(directory);
      expect(said).toEqual([expect.stringContaining('admin changes are refused for now')]);
      expect([...state.current.servers.keys()]).toEqual(['a']);
      await expect(state.update(disable('b'))).rejects.toMatchObject({ kind: 'storage-unavailable' });
      expect(state.current.revision).toBe(1);
      chmodSync(directory, 0o700);
      expect((await state.update(disable('b'))).revision).toBe(2);
    });
  });

  it('keeps what it had when a file really cannot grow, and can still shrink', () => {
    // In blocks of 512 bytes: the first that do not fit are written, and the rest is refused.
    const script = `ulimit -f 16; exec "${process.execPath}" test/kit/state-until-full.mjs "${directory}"`;
    const { stdout } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
    const outcome = JSON.parse(stdout) as Record<string, unknown>;
    expect(outcome).toMatchObject({ kind: 'storage-full', sameAsBefore: true, leftOver: [] });
    expect(outcome['stored']).toBe(outcome['revision']);
    expect(outcome['afterShrinking']).toBe(Number(outcome['revision']) + 1);
  });
});

describe('FileDecisionStore, taken for dead', () => {
  it('refuses changes as long as another gateway has its directory, and then goes on from there', async () => {
    const sleeper = await openState(directory);
    await sleeper.state.update(disable('a'));
    removeClaims();
    const other = await openState(directory);
    await other.state.update(disable('b'));
    await expect(sleeper.state.update(disable('c'))).rejects.toMatchObject({
      kind: 'storage-unavailable',
      message: expect.stringContaining('another gateway uses it'),
    });
    expect([...sleeper.state.current.servers.keys()]).toEqual(['a']);
    await other.end();
    const revisions: number[] = [];
    sleeper.state.onChange(({ revision }) => revisions.push(revision));
    const { servers } = await sleeper.state.update(disable('c'));
    expect([...servers.keys()]).toEqual(['a', 'b', 'c']);
    expect(revisions).toEqual([2, 3]);
  });

  it('does not forget what it knows when the directory was emptied', async () => {
    const { state } = await openState(directory);
    await state.update(disable('a'));
    for (const name of readdirSync(directory)) rmSync(path(name));
    const { revision, servers } = await state.update(disable('b'));
    expect([revision, ...servers.keys()]).toEqual([2, 'a', 'b']);
  });

  it('takes no change while what the other left cannot be read', async () => {
    const { state } = await openState(directory);
    await state.update(disable('a'));
    removeClaims();
    writeFileSync(path('state.json'), '{"schemaVersion":2}');
    const refused = { kind: 'storage-unavailable', message: expect.stringContaining('a later Gatehouse') };
    await expect(state.update(disable('b'))).rejects.toMatchObject(refused);
    await expect(state.update(disable('b'))).rejects.toMatchObject(refused);
  });
});
