import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { unprivileged } from '../../test/kit/state-unprivileged.js';
import { tempDir } from '../../test/kit/temp-dir.js';
import { until } from '../../test/kit/until.js';
import { DirectoryLock } from './directory-lock.js';
import { ownIdentity, type ProcessIdentity } from './process-identity.js';
import { StateError } from './state-error.js';

const TIMING = { heartbeatMs: 20, leaseMs: 400, contentionMs: 100 };
const HOLDER = 'test/kit/state-holder.mjs';

let directory = '';
const claims = (): string[] => readdirSync(directory);

function newLock(timing = TIMING): DirectoryLock {
  const lock = new DirectoryLock(directory, timing);
  onCleanup(() => lock.release());
  return lock;
}

/** Writes the claim of another process. */
function writeClaim(holder: Partial<ProcessIdentity>, ageMs = 0, name = `lock-${'a'.repeat(16)}`): string {
  const path = join(directory, name);
  writeFileSync(path, JSON.stringify({ ...ownIdentity(), ...holder }));
  const time = (Date.now() - ageMs) / 1000;
  utimesSync(path, time, time);
  return path;
}

beforeEach(() => {
  directory = tempDir();
});
afterEach(() => void jest.restoreAllMocks());

describe('DirectoryLock', () => {
  it('has one holder until it is released', async () => {
    const [first, second] = [newLock(), newLock()];
    expect(await first.acquire()).toBe(1);
    expect(await first.acquireForWrite()).toBe(1);
    await expect(second.acquire()).rejects.toThrow(
      `the state in ${directory} cannot be used: another gateway uses it: process ${process.pid} on ${hostname()}\n` +
        '  Stop that gateway, or configure another stateDir for this one.',
    );
    expect(claims()).toHaveLength(1);
    await first.release();
    await first.release();
    expect(claims()).toEqual([]);
    expect(await second.acquire()).toBe(1);
  });

  it('cannot be acquired again after its release', async () => {
    const lock = newLock();
    await lock.acquire();
    await lock.release();
    await expect(lock.acquireForWrite()).rejects.toMatchObject({ kind: 'storage-unavailable' });
    expect(claims()).toEqual([]);
  });

  it('reports another holder as a StateError from acquire and as a storage failure from acquireForWrite', async () => {
    await newLock().acquire();
    await expect(newLock().acquire()).rejects.toBeInstanceOf(StateError);
    await expect(newLock().acquireForWrite()).rejects.toMatchObject({ kind: 'storage-unavailable' });
  });

  it('starts a new term when another process removed the claim', async () => {
    const lock = newLock();
    await lock.acquire();
    for (const name of claims()) rmSync(join(directory, name));
    expect(await lock.acquireForWrite()).toBe(2);
    expect(await lock.acquireForWrite()).toBe(2);
    expect(claims()).toHaveLength(1);
  });

  it('never has two holders when many processes acquire it at once', async () => {
    for (let round = 0; round < 10; round++) {
      const contenders = Array.from({ length: 4 }, () => newLock());
      const outcomes = await Promise.allSettled(contenders.map((lock) => lock.acquire()));
      expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1);
      await Promise.all(contenders.map((lock) => lock.release()));
      expect(claims()).toEqual([]);
    }
  });

  it('is acquired by one of two processes that start at once', async () => {
    const contenders = [
      newLock({ ...TIMING, contentionMs: 5_000 }),
      newLock({ ...TIMING, contentionMs: 5_000 }),
    ];
    const first = await Promise.race(contenders.map((lock) => lock.acquire().then(() => lock)));
    await first.release();
    const others = contenders.filter((lock) => lock !== first);
    expect(await Promise.all(others.map((lock) => lock.acquire()))).toEqual([1]);
  });

  it.each([
    ['read-only', 0o555],
    ['not readable', 0o333],
  ])('rejects with a storage failure when the directory is %s and leaves no file', async (_, mode) => {
    chmodSync(directory, mode);
    await unprivileged(directory, async () => {
      await expect(newLock().acquire()).rejects.toMatchObject({ kind: 'storage-unavailable' });
    });
    expect(claims()).toEqual([]);
  });
});

describe('DirectoryLock after other processes', () => {
  it('can be acquired at once when its holder was killed', async () => {
    const holder = spawn(process.execPath, [HOLDER, directory, 'stay'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onCleanup(() => holder.kill('SIGKILL'));
    await once(holder.stdout, 'data');
    await expect(newLock().acquire()).rejects.toThrow(`process ${holder.pid} on`);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    expect(claims()).toHaveLength(1);
    await newLock().acquire();
    expect(claims()).toHaveLength(1);
  });

  it('removes its claim when the process exits', () => {
    expect(spawnSync(process.execPath, [HOLDER, directory, 'exit']).status).toBe(0);
    expect(claims()).toEqual([]);
  });

  it('can be acquired when the PID of its holder belongs to another process now', async () => {
    const path = writeClaim({ started: '1' });
    await newLock().acquire();
    expect(existsSync(path)).toBe(false);
  });

  it.each([
    ['past', 60_000],
    ['future', -60_000],
  ])(
    'can be acquired when the last heartbeat of a holder in another PID namespace is in the %s',
    async (_, ageMs) => {
      const path = writeClaim({ pidSpace: 'another container', pid: 1 }, ageMs);
      await newLock().acquire();
      expect(existsSync(path)).toBe(false);
    },
  );

  it('waits for the lease of a holder in another PID namespace', async () => {
    const start = Date.now();
    const path = writeClaim({ pidSpace: 'another container', pid: 1 });
    await newLock().acquire();
    expect(Date.now() - start).toBeGreaterThanOrEqual(TIMING.leaseMs - 1);
    expect(existsSync(path)).toBe(false);
  });

  it('waits until the lease has expired, also when reading the claims is slow', async () => {
    const path = writeClaim({ pidSpace: 'another container', pid: 1 });
    // Simulates a busy machine: by the monotonic clock, the lock has waited much longer than the claim is old.
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() * 20);
    await newLock().acquire();
    expect(existsSync(path)).toBe(false);
  });

  it('is refused while a holder in another PID namespace sends heartbeats', async () => {
    const path = writeClaim({ pidSpace: 'another container', pid: 1, host: 'pod-2' });
    const heartbeat = setInterval(() => utimesSync(path, Date.now() / 1000, Date.now() / 1000), 50);
    onCleanup(() => clearInterval(heartbeat));
    await expect(newLock().acquire()).rejects.toThrow('process 1 on pod-2');
  });

  it('writes heartbeats for processes in other PID namespaces', async () => {
    await newLock().acquire();
    const path = join(directory, claims()[0]!);
    utimesSync(path, 1, 1);
    const fresh = await until('the claim is fresh again', () => Date.now() - statSync(path).mtimeMs < 60_000);
    expect(fresh).toBe(true);
  });

  it('removes an incomplete claim after the lease', async () => {
    writeClaim({}, 0, `lock-${'b'.repeat(16)}.tmp`);
    writeClaim({}, 60_000, `lock-${'c'.repeat(16)}.tmp`);
    writeFileSync(join(directory, 'lock-of-another-program'), '');
    await newLock().acquire();
    expect(claims().filter((name) => !/^lock-[0-9a-f]{16}$/.test(name))).toEqual([
      `lock-${'b'.repeat(16)}.tmp`,
      'lock-of-another-program',
    ]);
  });
});
