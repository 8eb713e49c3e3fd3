import { describe, expect, it, jest } from '@jest/globals';
import { ConnectionHarness } from '../../../test/kit/connection-harness.js';
import { FakeLink } from '../../../test/kit/fake-link.js';
import { outcomeOf, refusalOf, flushPromises } from '../../../test/kit/promises.js';
import { advanceTime, useFakeTime } from '../../../test/kit/fake-time.js';
import { deferred } from '../../../test/kit/until.js';
import { TransportError } from '../link/transport.js';

const sessionExpired = (): TransportError => new TransportError('session-expired', 'the session has expired');

useFakeTime();

describe('ServerConnection', () => {
  it('is stopped until it is started, and then connects', async () => {
    const server = new ConnectionHarness();
    expect(server.state).toBe('stopped');
    server.connection.start();
    expect(server.state).toBe('connecting');
    await flushPromises();
    expect(server.state).toBe('ready');
    expect(server.connection.link).toBe(server.link);
    expect(server.opened).toEqual([server.link]);
    expect(server.connection.restarts).toBe(0);
  });

  it('connects once when started twice', async () => {
    const server = await ConnectionHarness.ready();
    server.connection.start();
    await flushPromises();
    expect(server.attempts).toBe(1);
  });

  it('reports a lost link, closes it, and connects again after the backoff delay', async () => {
    const server = await ConnectionHarness.ready();
    const { link } = server;
    const reason = new Error('it crashed');
    link.disconnect(reason);
    await flushPromises();
    expect(server.connection.link).toBeUndefined();
    expect(server.lost).toEqual([{ link, reason }]);
    expect(link.closes).toBe(1);
    expect(server.state).toBe('retrying');
    expect(server.connection.status.error).toBe(reason);
    await advanceTime(499);
    expect(server.attempts).toBe(1);
    await advanceTime(1);
    expect(server.state).toBe('ready');
    expect(server.connection.restarts).toBe(1);
    expect(server.connection.status.error).toBeUndefined();
  });

  it('doubles the delay after every failed attempt', async () => {
    const server = new ConnectionHarness();
    server.refuse();
    server.connection.start();
    await flushPromises();
    for (const delayMs of [500, 1000, 2000]) {
      const { attempts } = server;
      await advanceTime(delayMs - 1);
      expect(server.attempts).toBe(attempts);
      await advanceTime(1);
      expect(server.attempts).toBe(attempts + 1);
    }
    expect(server.state).toBe('retrying');
  });

  it('keeps the cause of the last failure while it connects again', async () => {
    const server = new ConnectionHarness();
    server.refuse(new Error('no route'));
    server.connection.start();
    await flushPromises();
    server.connect = () => new Promise(() => {});
    await advanceTime(500);
    expect(server.state).toBe('connecting');
    expect(server.connection.status.error?.message).toBe('no route');
  });

  it('starts with the shortest delay again after a stable link', async () => {
    const server = await ConnectionHarness.ready();
    server.link.disconnect();
    await advanceTime(500);
    server.link.disconnect();
    await advanceTime(1000);
    expect(server.state).toBe('ready');
    await advanceTime(10_001);
    server.link.disconnect();
    await advanceTime(500);
    expect(server.state).toBe('ready');
  });

  it('is in a crash loop after five failures within a minute', async () => {
    const server = await ConnectionHarness.inCrashLoop();
    expect(server.state).toBe('crash-loop');
    expect(server.attempts).toBe(5);
  });

  it('connects at longer and longer intervals in a crash loop, calls or not, up to every 5 minutes', async () => {
    const server = await ConnectionHarness.inCrashLoop();
    for (const seconds of [30, 30, 32, 64, 128, 256, 300, 300]) {
      const { attempts } = server;
      await advanceTime(seconds * 1000 - 1);
      expect(server.connection.recordRefusedCall()).toBe(false);
      expect(server.attempts).toBe(attempts);
      await advanceTime(1);
      expect([server.attempts, server.state]).toEqual([attempts + 1, 'crash-loop']);
    }
  });

  it('stays in a crash loop when links are lost before they are stable', async () => {
    const server = await ConnectionHarness.inCrashLoop();
    server.accept();
    for (const seconds of [30, 30, 32, 64, 128]) {
      await advanceTime(seconds * 1000);
      expect(server.state).toBe('ready');
      await advanceTime(10_000);
      server.link.disconnect();
      await flushPromises();
      expect(server.state).toBe('crash-loop');
    }
  });

  it('leaves a crash loop after a stable link', async () => {
    const server = await ConnectionHarness.inCrashLoop();
    server.accept();
    await advanceTime(30_000);
    expect(server.state).toBe('ready');
    await advanceTime(10_001);
    server.link.disconnect();
    await flushPromises();
    expect(server.state).toBe('retrying');
    await advanceTime(500);
    expect(server.state).toBe('ready');
  });
});

describe('ServerConnection.reconnect', () => {
  it('replaces the open link without delay', async () => {
    const server = await ConnectionHarness.ready();
    const [first] = server.links;
    server.connection.reconnect();
    await flushPromises();
    expect(first!.closes).toBeGreaterThan(0);
    expect(server.links).toHaveLength(2);
    expect(server.state).toBe('ready');
  });

  it('does not count as a failure, even a hundred times in a row', async () => {
    const server = await ConnectionHarness.ready();
    for (let n = 0; n < 100; n++) {
      server.connection.reconnect();
      await flushPromises();
    }
    expect(server.state).toBe('ready');
    expect(server.connection.restarts).toBe(100);
    expect(server.links.filter((link) => link.closes === 0)).toEqual([server.link]);
  });

  it('ends the backoff delay', async () => {
    const server = await ConnectionHarness.inCrashLoop();
    server.accept();
    server.connection.reconnect();
    await flushPromises();
    expect(server.state).toBe('ready');
  });

  it('ends a crash loop and ignores earlier failures', async () => {
    const server = await ConnectionHarness.inCrashLoop();
    server.connection.reconnect();
    await flushPromises();
    expect([server.attempts, server.state]).toEqual([6, 'retrying']);
    for (const delayMs of [500, 1000, 2000, 4000]) await advanceTime(delayMs);
    expect([server.attempts, server.state]).toEqual([10, 'crash-loop']);
  });

  it('delays the next attempt when the requested one fails', async () => {
    const server = new ConnectionHarness();
    server.refuse();
    server.connection.start();
    await flushPromises();
    server.connection.reconnect();
    await flushPromises();
    expect(server.attempts).toBe(2);
    expect(server.state).toBe('retrying');
  });
});

describe('ServerConnection.stop', () => {
  it('closes the open link', async () => {
    const server = await ConnectionHarness.ready();
    await server.connection.stop();
    expect(server.link.closes).toBeGreaterThan(0);
    expect(server.state).toBe('stopped');
    expect(server.lost).toHaveLength(1);
    await advanceTime(60_000);
    expect(server.attempts).toBe(1);
  });

  it('does not wait for the end of a backoff delay', async () => {
    const server = new ConnectionHarness();
    server.refuse();
    server.connection.start();
    await flushPromises();
    await server.connection.stop();
    expect(server.state).toBe('stopped');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('aborts the connection attempt', async () => {
    const server = new ConnectionHarness();
    server.connect = () =>
      new Promise((_resolve, reject) => {
        server.signal?.addEventListener('abort', () => reject(new Error('given up')));
      });
    server.connection.start();
    await flushPromises();
    await server.connection.stop();
    expect(server.state).toBe('stopped');
  });

  it('closes a link that an aborted attempt has opened nevertheless', async () => {
    const server = new ConnectionHarness();
    const nextLink = deferred<FakeLink>();
    server.connect = () => nextLink.promise;
    server.connection.start();
    await flushPromises();
    const stopping = server.connection.stop();
    nextLink.resolve(new FakeLink());
    await stopping;
    expect(server.opened).toEqual([]);
    expect(server.link.closes).toBe(1);
    expect(server.state).toBe('stopped');
  });

  it('prevents a later start', async () => {
    const server = new ConnectionHarness();
    await server.connection.stop();
    server.connection.start();
    await flushPromises();
    expect(server.attempts).toBe(0);
    expect(server.state).toBe('stopped');
  });
});

describe('ServerConnection.nextLink', () => {
  it('resolves with the link that is opened without delay after an expired session', async () => {
    const server = await ConnectionHarness.ready();
    const lost = server.link;
    const waiting = [server.connection.nextLink(lost), server.connection.nextLink(lost)];
    lost.disconnect(sessionExpired());
    const [first, second] = await Promise.all(waiting);
    expect(first).toBe(server.link);
    expect(second).toBe(first);
    expect(first).not.toBe(lost);
    expect(server.attempts).toBe(2);
  });

  it('resolves also when called while the lost link is being closed', async () => {
    const server = await ConnectionHarness.ready();
    const lost = server.link;
    const closed = deferred();
    lost.close = () => closed.promise;
    lost.disconnect(sessionExpired());
    await flushPromises();
    const replacement = server.connection.nextLink(lost);
    closed.resolve();
    expect(await replacement).toBe(server.link);
    expect(server.links).toHaveLength(2);
  });

  it('resolves at once when the lost link was replaced already', async () => {
    const server = await ConnectionHarness.ready();
    const lost = server.link;
    lost.disconnect(sessionExpired());
    await flushPromises();
    await expect(server.connection.nextLink(lost)).resolves.toBe(server.link);
  });

  it('rejects when the next attempt fails', async () => {
    const server = await ConnectionHarness.ready();
    const lost = server.link;
    server.refuse(new Error('not yet'));
    lost.disconnect(sessionExpired());
    const refusal = await refusalOf(server.connection.nextLink(lost));
    expect(refusal.message).toBe('not yet');
  });

  it('rejects during a backoff delay', async () => {
    const server = await ConnectionHarness.ready();
    const lost = server.link;
    lost.disconnect(new Error('crashed'));
    await flushPromises();
    expect((await refusalOf(server.connection.nextLink(lost))).message).toBe('crashed');
  });

  it('rejects when expired sessions become a crash loop', async () => {
    const server = await ConnectionHarness.ready();
    for (let n = 0; n < 4; n++) {
      server.link.disconnect(sessionExpired());
      await flushPromises();
    }
    expect(server.state).toBe('ready');
    const outcome = outcomeOf(server.connection.nextLink(server.link));
    server.link.disconnect(sessionExpired());
    await flushPromises();
    expect(server.state).toBe('crash-loop');
    expect(outcome.error).toMatchObject({ fault: 'session-expired' });
  });

  it('rejects when the connection stops or has stopped', async () => {
    const server = await ConnectionHarness.ready();
    const lost = server.link;
    server.connect = () =>
      new Promise((_resolve, reject) => {
        server.signal?.addEventListener('abort', () => reject(new Error('given up')));
      });
    const before = refusalOf(server.connection.nextLink(lost));
    lost.disconnect(sessionExpired());
    await flushPromises();
    await server.connection.stop();
    expect((await before).message).toBe('it is being stopped');
    expect(await refusalOf(server.connection.nextLink(lost))).toBeInstanceOf(Error);
  });
});
