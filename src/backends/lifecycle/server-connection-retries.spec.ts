import { describe, expect, it } from '@jest/globals';
import { ConnectionHarness } from '../../../test/kit/connection-harness.js';
import { FakeLink } from '../../../test/kit/fake-link.js';
import { advanceTime, useFakeTime } from '../../../test/kit/fake-time.js';
import { recordLog } from '../../../test/kit/log-lines.js';
import { flushPromises } from '../../../test/kit/promises.js';
import { ConnectError } from '../link/link.js';
import { TransportError } from '../link/transport.js';
import { StartSlots } from './start-slots.js';

useFakeTime();

/** The server has refused several attempts, and refuses further ones as well. */
async function failing(): Promise<ConnectionHarness> {
  const server = new ConnectionHarness({ kind: 'http' });
  server.refuse(new TransportError('refused', 'HTTP 401', { httpStatus: 401 }));
  server.connection.start();
  for (const seconds of [0, 0.5, 1, 2, 4, 8, 16, 32]) await advanceTime(seconds * 1000);
  return server;
}

describe('ServerConnection to a process', () => {
  it('counts every start of the process after the first, and no failed spawn', async () => {
    const server = new ConnectionHarness();
    const exited = new TransportError('broken', 'exited with code 1', { hasExited: true });
    const notFound = new TransportError('unreachable', 'cannot start', { spawnCode: 'ENOENT' });
    server.refuse(new ConnectError(exited, []));
    server.connection.start();
    await advanceTime(500);
    expect([server.attempts, server.connection.restarts]).toEqual([2, 1]);
    server.refuse(new ConnectError(notFound, []));
    await advanceTime(1000);
    expect([server.attempts, server.connection.restarts]).toEqual([3, 1]);
  });

  it('logs repeated failures once, and again when the reason changes', async () => {
    const lines = recordLog();
    const server = new ConnectionHarness();
    server.refuse(new Error('first'));
    server.connection.start();
    for (const ms of [0, 500, 1000]) await advanceTime(ms);
    server.refuse(new Error('second'));
    await advanceTime(2000);
    expect(server.attempts).toBe(4);
    const reasons = lines.map((line) => (JSON.parse(line) as { reason: string }).reason);
    expect(reasons).toEqual(['first', 'second']);
  });
});

describe('ServerConnection to an HTTP server', () => {
  it('attempts at once when a call arrives after a long delay, then at most every 5 s', async () => {
    const server = await failing();
    await advanceTime(20_000);
    const { attempts } = server;
    expect(server.connection.recordRefusedCall()).toBe(true);
    await flushPromises();
    expect(server.attempts).toBe(attempts + 1);
    for (let n = 0; n < 100; n++) {
      server.connection.recordRefusedCall();
      await advanceTime(100);
    }
    expect(server.attempts).toBe(attempts + 3);
  });

  it('waits a minute between attempts without calls, and is retrying all the time', async () => {
    const server = await failing();
    const { attempts } = server;
    await advanceTime(59_999);
    expect([server.attempts, server.state]).toEqual([attempts, 'retrying']);
    await advanceTime(1);
    expect(server.attempts).toBe(attempts + 1);
    expect(server.connection.restarts).toBe(0);
  });

  it('is ready within 5 s after a deploy of 40 s, without calls', async () => {
    const server = new ConnectionHarness({ kind: 'http' });
    server.connection.start();
    await advanceTime(60_000);
    server.refuse(new TransportError('unreachable', 'cannot connect: ECONNREFUSED'));
    server.link.disconnect();
    for (let second = 0; second < 40; second++) await advanceTime(1000);
    expect(server.state).toBe('retrying');
    server.accept();
    await advanceTime(5000);
    expect(server.state).toBe('ready');
  });

  it('is ready soon after the first call to a server that is back', async () => {
    const server = await failing();
    await advanceTime(5000);
    server.accept();
    server.connection.recordRefusedCall();
    await flushPromises();
    expect([server.state, server.connection.status.attempts]).toEqual(['ready', 0]);
  });
});

describe('ServerConnection with start slots', () => {
  it('stays starting until a slot is free, and stops while it waits', async () => {
    const slots = new StartSlots(1);
    const [server, other] = [new ConnectionHarness({ slots }), new ConnectionHarness({ slots })];
    server.connection.start();
    await flushPromises();
    expect([server.attempts, server.state, slots.waiting]).toEqual([0, 'connecting', 1]);
    expect(server.connection.unavailableError()?.data).toMatchObject({ reason: 'starting' });
    server.connect = () => new Promise(() => {});
    slots.open();
    other.connection.start();
    await flushPromises();
    expect([server.attempts, other.attempts, slots.waiting]).toEqual([1, 0, 1]);
    await other.connection.stop();
    expect([other.state, slots.waiting]).toEqual(['stopped', 0]);
  });

  it('is starting for ten minutes if the server takes as long, and does not delay the start of others', async () => {
    const slots = new StartSlots(1);
    slots.open();
    const [slow, other] = [new ConnectionHarness({ slots }), new ConnectionHarness({ slots })];
    let isStarted!: (link: FakeLink) => void;
    slow.connect = () => new Promise((resolve) => (isStarted = resolve));
    slow.connection.start();
    other.connection.start();
    await advanceTime(3000);
    expect([slow.state, other.state]).toEqual(['connecting', 'ready']);
    for (let minute = 0; minute < 10; minute++) {
      await advanceTime(60_000);
      expect(slow.connection.unavailableError()).toMatchObject({
        kind: 'server-unavailable',
        data: { reason: 'starting', retryAfterMs: expect.any(Number) },
      });
    }
    isStarted(new FakeLink());
    await flushPromises();
    expect([slow.state, slow.attempts, slow.connection.unavailableError()]).toEqual(['ready', 1, undefined]);
  });

  it('needs no slot to renew an expired session', async () => {
    const slots = new StartSlots(1);
    slots.open();
    const server = new ConnectionHarness({ slots, kind: 'http' });
    server.connection.start();
    await flushPromises();
    const other = new ConnectionHarness({ slots });
    other.connect = () => new Promise(() => {});
    other.connection.start();
    server.link.disconnect(new TransportError('session-expired', 'the session has expired'));
    await flushPromises();
    expect([server.state, server.attempts]).toEqual(['ready', 2]);
  });
});
