import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { unprivileged } from '../../test/kit/state-unprivileged.js';
import { tempDir } from '../../test/kit/temp-dir.js';
import { decideServer, NO_DECISIONS } from './decisions.js';
import type { Decisions } from './decision-store.js';
import { serializeState } from './state-document.js';
import { StateError } from './state-error.js';
import { StateFile } from './state-file.js';

const revision = (n: number): Decisions => ({
  ...decideServer(NO_DECISIONS, `server ${n}`, () => ({ enabled: false })),
  revision: n,
});

let directory = '';
let file: StateFile;
const path = (name: string): string => join(directory, name);
const stored = (name: string): unknown => JSON.parse(readFileSync(path(name), 'utf8'));
const reload = (): ReturnType<StateFile['load']> => new StateFile(directory).load();

beforeEach(async () => {
  directory = tempDir();
  file = new StateFile(directory);
  await file.load();
});

describe('StateFile', () => {
  it('is empty without a file', async () => {
    expect(await file.load()).toEqual({ decisions: NO_DECISIONS });
  });

  it('reads the last saved version and keeps the previous one', async () => {
    for (const n of [1, 2, 3]) await file.save(revision(n));
    expect(await reload()).toEqual({ decisions: revision(3) });
    expect(stored('state.json.bak')).toMatchObject({ revision: 2 });
    expect(readdirSync(directory).toSorted()).toEqual(['state.json', 'state.json.bak']);
  });

  it('has mode 0600', async () => {
    for (const n of [1, 2]) await file.save(revision(n));
    const modes = readdirSync(directory).map((name) => statSync(path(name)).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600]);
  });

  it('removes the temporary file of a crash', async () => {
    await file.save(revision(1));
    writeFileSync(path('state.json.tmp'), 'half a st');
    await file.removeTemporary();
    expect(readdirSync(directory)).toEqual(['state.json']);
    await file.removeTemporary();
  });
});

describe('StateFile with damage', () => {
  const damages: [string, () => void][] = [
    ['incomplete', () => writeFileSync(path('state.json'), serializeState(revision(2)).slice(0, 100))],
    ['empty', () => writeFileSync(path('state.json'), '')],
    ['edited', () => writeFileSync(path('state.json'), serializeState(revision(2)).replace('false', 'true'))],
    ['missing', () => rmSync(path('state.json'))],
  ];

  it.each(damages)('uses the previous version with a warning when the file is %s', async (_, damage) => {
    for (const n of [1, 2]) await file.save(revision(n));
    damage();
    const { decisions, warning } = await reload();
    expect(decisions).toEqual(revision(1));
    expect(warning).toContain(`${path('state.json')} cannot be used: it`);
    expect(warning).toContain(`using ${path('state.json')}.bak`);
  });

  it('never keeps a damaged file as the previous version', async () => {
    for (const n of [1, 2]) await file.save(revision(n));
    writeFileSync(path('state.json'), 'damaged');
    await file.load();
    await file.save(revision(3));
    expect(stored('state.json')).toMatchObject({ revision: 3 });
    expect(stored('state.json.bak')).toMatchObject({ revision: 1 });
    expect(readFileSync(path('state.json.damaged'), 'utf8')).toBe('damaged');
    await file.save(revision(4));
    expect(stored('state.json.bak')).toMatchObject({ revision: 3 });
  });

  it('rejects when file and backup are damaged, and names both and the remedy', async () => {
    writeFileSync(path('state.json'), '{');
    writeFileSync(path('state.json.bak'), '{}');
    const refusal = await reload().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(StateError);
    expect((refusal as Error).message).toBe(
      `the state in ${path('state.json')} cannot be used: it is not a JSON object, and ` +
        `${path('state.json.bak')} cannot be used either: it has no schemaVersion\n` +
        '  Restore one of the two files from a backup, or remove both to start without any admin decisions.',
    );
  });

  it('rejects a damaged file without a backup', async () => {
    writeFileSync(path('state.json'), '{');
    await expect(reload()).rejects.toThrow('it is missing');
  });

  it.each(['state.json', 'state.json.bak'])('rejects a %s of a later version', async (name) => {
    writeFileSync(path('state.json.bak'), serializeState(revision(1)));
    writeFileSync(path('state.json'), 'damaged');
    writeFileSync(path(name), '{"schemaVersion":3}');
    await expect(reload()).rejects.toThrow(
      `the state in ${path(name)} cannot be used: it was written by a later Gatehouse (schema 3)`,
    );
  });

  it('rejects a file that cannot be read', async () => {
    mkdirSync(path('state.json'));
    await expect(reload()).rejects.toThrow('it cannot be read (EISDIR)');
  });
});

describe('StateFile on a failing disk', () => {
  /** Each one makes the next save fail at another step. */
  const faults: [string, string, () => void][] = [
    ['the disk is full', 'storage-full', () => symlinkSync('/dev/full', path('state.json.tmp'))],
    [
      'the new file cannot be created',
      'storage-unavailable',
      () => mkdirSync(path('state.json.tmp/x'), { recursive: true }),
    ],
    [
      'the backup cannot be written',
      'storage-unavailable',
      () => {
        rmSync(path('state.json.bak'));
        mkdirSync(path('state.json.bak/x'), { recursive: true });
      },
    ],
  ];

  it.each(faults)('keeps the file unchanged when %s', async (_, kind, causeFault) => {
    for (const n of [1, 2]) await file.save(revision(n));
    causeFault();
    await expect(file.save(revision(3))).rejects.toMatchObject({ kind, data: { code: expect.any(String) } });
    expect(await reload()).toEqual({ decisions: revision(2) });
  });

  it('leaves no temporary file and works again once there is space', async () => {
    for (const n of [1, 2]) await file.save(revision(n));
    symlinkSync('/dev/full', path('state.json.tmp'));
    await expect(file.save(revision(3))).rejects.toMatchObject({
      kind: 'storage-full',
      message: `STORAGE_FULL: no space left for ${path('state.json')} (ENOSPC)`,
    });
    expect(readdirSync(directory).toSorted()).toEqual(['state.json', 'state.json.bak']);
    expect(stored('state.json.bak')).toMatchObject({ revision: 1 });
    await file.save(revision(3));
    expect(await reload()).toEqual({ decisions: revision(3) });
  });

  it('keeps the file unchanged when the directory is read-only', async () => {
    await file.save(revision(1));
    chmodSync(directory, 0o555);
    await unprivileged(directory, async () => {
      await expect(file.save(revision(2))).rejects.toMatchObject({
        kind: 'storage-unavailable',
        message: `STORAGE_UNAVAILABLE: ${path('state.json')} cannot be written (EACCES)`,
      });
    });
    chmodSync(directory, 0o700);
    expect(await reload()).toEqual({ decisions: revision(1) });
  });

  it.each([0, 1, 2])('reverts save number %i when the directory cannot be synced', async (n) => {
    for (let i = 1; i <= n; i++) await file.save(revision(i));
    // Files can be created in the directory, but it cannot be opened to sync it.
    chmodSync(directory, 0o333);
    await unprivileged(directory, async () => {
      await expect(file.save(revision(n + 1))).rejects.toMatchObject({ kind: 'storage-unavailable' });
    });
    chmodSync(directory, 0o700);
    expect(await reload()).toEqual({ decisions: n === 0 ? NO_DECISIONS : revision(n) });
    await file.save(revision(n + 1));
    expect(await reload()).toEqual({ decisions: revision(n + 1) });
  });

  it('fails when the directory was removed', async () => {
    rmSync(directory, { recursive: true });
    await expect(file.save(revision(1))).rejects.toMatchObject({ kind: 'storage-unavailable' });
    expect(existsSync(directory)).toBe(false);
  });
});
