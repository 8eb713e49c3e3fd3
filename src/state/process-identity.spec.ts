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

describe('the identity of a process', () => {
  it('is that of a running one', () => {
    expect(isRunning(ownIdentity())).toBe(true);
    expect(isProcessIdentity(JSON.parse(JSON.stringify(ownIdentity())))).toBe(true);
  });

  it('is not that of another with its pid', () => {
    expect(isRunning({ ...ownIdentity(), started: '1' })).toBe(false);
  });

  it('says nothing where pids mean something else', () => {
    expect(isRunning({ ...ownIdentity(), pidSpace: 'another container' })).toBeUndefined();
  });

  it.each([ownIdentity().started, ''])('is not that of one that has ended (started: %j)', (started) => {
    const { pid } = spawnSync('true');
    expect(isRunning({ ...ownIdentity(), pid, started })).toBe(false);
  });

  it('is believed by its pid alone where the system does not say when a process started', () => {
    expect(isRunning({ ...ownIdentity(), started: '' })).toBe(true);
    expect(isRunning({ ...ownIdentity(), started: '', pid: 1 })).toBe(true);
  });

  it('is not that of one that has ended and was not collected', async () => {
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

  it.each([null, 7, 'x', [], {}, { ...ownIdentity(), pid: '1' }, { ...ownIdentity(), host: 1 }])(
    'is not %j',
    (value) => {
      expect(isProcessIdentity(value)).toBe(false);
    },
  );
});
