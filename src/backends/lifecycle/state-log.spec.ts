import { beforeEach, describe, expect, it } from '@jest/globals';
import { recordLog } from '../../../test/kit/log-lines.js';
import { TransportError } from '../link/transport.js';
import { initialStatus, type ConnectionStatus } from './connection-state.js';
import { StateLog } from './state-log.js';

const exited = new TransportError('broken', 'exit code 1', { hasExited: true });

const failed = (more: Partial<ConnectionStatus> = {}): ConnectionStatus => ({
  ...initialStatus(60_000, 'process'),
  state: 'retrying',
  error: exited,
  downSince: 1000,
  attempts: 3,
  nextAttemptAt: 64_000,
  ...more,
});

let lines: string[];
const entries = (): Record<string, unknown>[] =>
  lines.map((line) => JSON.parse(line) as Record<string, unknown>);
beforeEach(() => {
  lines = recordLog();
});

describe('StateLog', () => {
  it('writes the last lines of stderr, the time since when the server is down, and the next attempt', () => {
    const stderr = Array.from({ length: 9 }, (_, index) => `line ${index} ${'x'.repeat(1000)}`);
    new StateLog('fs').changed(failed(), 'connecting', stderr);
    expect(entries()).toMatchObject([
      {
        level: 'warn',
        message: 'server is retrying',
        server: 'fs',
        cause: 'crashed',
        reason: 'exit code 1',
        downSince: '1970-01-01T00:00:01.000Z',
        attempts: 3,
        nextAttemptInMs: 4000,
      },
    ]);
    const written = entries()[0]!['stderr'] as string[];
    expect(written.map((line) => [line.slice(0, 6), line.length])).toEqual(
      [4, 5, 6, 7, 8].map((index) => [`line ${index}`, 500]),
    );
  });

  it('shortens a reason that is a text of the server', () => {
    new StateLog('fs').changed(failed({ error: new Error('x'.repeat(100_000)) }), 'connecting');
    expect(entries()[0]!['reason']).toBe(`${'x'.repeat(500)}…`);
  });

  it('writes a failure again only if its reason or its last line of stderr differs', () => {
    const log = new StateLog('fs');
    for (const stderr of [['a'], ['a'], ['b'], ['b']]) log.changed(failed(), 'connecting', stderr);
    log.changed(failed({ error: new Error('refused') }), 'connecting', ['b']);
    expect(entries().map(({ reason, stderr }) => [reason, stderr])).toEqual([
      ['exit code 1', ['a']],
      ['exit code 1', ['b']],
      ['refused', ['b']],
    ]);
  });

  it('writes no stderr of an earlier failure when the server is ready', () => {
    new StateLog('fs').changed(failed({ state: 'ready', error: undefined }), 'connecting', ['a']);
    expect(entries()).toMatchObject([{ level: 'info', message: 'server is ready' }]);
    expect(entries()[0]).not.toHaveProperty('stderr');
  });
});
