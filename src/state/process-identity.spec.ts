import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { until } from '../../test/kit/until.js';
import { isProcessIdentity, isRunning, ownIdentity } from './process-identity.js';

const fieldsOf = (pid: number): string[] => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
};

describe('isRunning', () => {
  it('returns true for this process', () => {
    expect(isRunning(ownIdentity())).toBe(true);
    expect(isProcessIdentity(JSON.parse(JSON.stringify(ownIdentity())))).toBe(true);
  });

  it('returns false if the start time differs', () => {
    expect(isRunning({ ...ownIdentity(), started: '1' })).toBe(false);
  });

  it('returns undefined for another PID namespace', () => {
    expect(isRunning({ ...ownIdentity(), pidSpace: 'another container' })).toBeUndefined();
  });

  it.each([ownIdentity().started, ''])('returns false for an ended process (started: %j)', (started) => {
    const { pid } = spawnSync('true');
    expect(isRunning({ ...ownIdentity(), pid, started })).toBe(false);
  });

  it('checks only the PID without a start time', () => {
    expect(isRunning({ ...ownIdentity(), started: '' })).toBe(true);
    expect(isRunning({ ...ownIdentity(), started: '', pid: 1 })).toBe(true);
  });

  it('returns false for a zombie process', async () => {
    const parent = spawn('sh', ['-c', 'sleep 0.1 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onCleanup(() => parent.kill('SIGKILL'));
    const [printed] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(printed);
    const identity = { ...ownIdentity(), pid, started: fieldsOf(pid)[19] ?? '' };
    expect(isRunning(identity)).toBe(true);
    await until('it is a zombie', () => fieldsOf(pid)[0] === 'Z');
    expect(isRunning(identity)).toBe(false);
  });
});

describe('isProcessIdentity', () => {
  it.each([null, 7, 'x', [], {}, { ...ownIdentity(), pid: '1' }, { ...ownIdentity(), host: 1 }])(
    'returns false for %j',
    (value) => {
      expect(isProcessIdentity(value)).toBe(false);
    },
  );
});
