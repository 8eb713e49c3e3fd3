import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { outcomeOf, flushPromises } from '../../test/kit/promises.js';
import { JsonText } from '../lib/json-text/json-text.js';
import { PollingUpstream } from './polling-upstream.js';

const POLL_MS = 1000;

/** A server whose resources have the content that the spec sets. */
class PolledServer {
  readonly polls: string[] = [];
  readonly changes: string[] = [];
  content: string | Error = 'one';
  /** Completes the pending read. */
  completeRead: (() => void) | undefined;
  holdsReads = false;
  readonly upstream = new PollingUpstream(
    async (uri) => {
      this.polls.push(uri);
      if (this.holdsReads) await new Promise<void>((resolve) => (this.completeRead = resolve));
      if (this.content instanceof Error) throw this.content;
      return new JsonText(this.content);
    },
    (uri) => this.changes.push(uri),
    POLL_MS,
  );

  async pass(ms: number): Promise<void> {
    jest.advanceTimersByTime(ms);
    await flushPromises();
  }
}

describe('PollingUpstream', () => {
  let server: PolledServer;
  let random: number;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    random = 0.5;
    jest.spyOn(Math, 'random').mockImplementation(() => random);
    server = new PolledServer();
  });
  afterEach(() => {
    server.upstream.stop();
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it('confirms a subscription after the first poll', async () => {
    server.holdsReads = true;
    const outcome = outcomeOf(server.upstream.subscribe('x'));
    await flushPromises();
    expect(server.polls).toEqual(['x']);
    expect(outcome).toEqual({});
    server.completeRead?.();
    await flushPromises();
    expect(outcome).toHaveProperty('value');
    expect(server.changes).toEqual([]);
  });

  it('reports each change of the content once', async () => {
    await server.upstream.subscribe('x');
    await server.pass(POLL_MS);
    expect(server.changes).toEqual([]);
    server.content = 'two';
    await server.pass(POLL_MS);
    await server.pass(POLL_MS);
    expect(server.changes).toEqual(['x']);
    server.content = 'one';
    await server.pass(POLL_MS);
    expect(server.changes).toEqual(['x', 'x']);
    expect(server.polls).toHaveLength(5);
  });

  it.each([
    [0, 800],
    [0.5, 1000],
    [1 - Number.EPSILON, 1200],
  ])('polls again after 0.8 to 1.2 of the interval', async (randomValue, ms) => {
    random = randomValue;
    await server.upstream.subscribe('x');
    await server.pass(ms - 1);
    expect(server.polls).toHaveLength(1);
    await server.pass(1);
    expect(server.polls).toHaveLength(2);
  });

  it('polls less often after failures, up to 32 times the interval, until a poll succeeds', async () => {
    await server.upstream.subscribe('x');
    server.content = new Error('gone');
    for (const factor of [1, 2, 4, 8, 16, 32, 32]) {
      const before = server.polls.length;
      await server.pass(POLL_MS * factor - 1);
      expect([factor, server.polls.length]).toEqual([factor, before]);
      await server.pass(1);
      expect([factor, server.polls.length]).toEqual([factor, before + 1]);
    }
    server.content = 'one';
    await server.pass(POLL_MS * 32);
    const before = server.polls.length;
    await server.pass(POLL_MS);
    expect(server.polls).toHaveLength(before + 1);
    expect(server.changes).toEqual([]);
  });

  it('reports a change with the first successful poll if the first poll failed', async () => {
    server.content = new Error('not yet');
    await server.upstream.subscribe('x');
    server.content = 'one';
    await server.pass(POLL_MS * 2);
    expect(server.changes).toEqual(['x']);
    await server.pass(POLL_MS);
    expect(server.changes).toEqual(['x']);
  });

  it('runs one poll of a resource at a time', async () => {
    await server.upstream.subscribe('x');
    server.holdsReads = true;
    await server.pass(POLL_MS);
    await server.pass(POLL_MS * 10);
    expect(server.polls).toHaveLength(2);
    server.completeRead?.();
    await flushPromises();
    await server.pass(POLL_MS);
    expect(server.polls).toHaveLength(3);
  });

  it('polls each resource separately until it is unsubscribed', async () => {
    await Promise.all(['x', 'y'].map((uri) => server.upstream.subscribe(uri)));
    await server.upstream.unsubscribe('x');
    server.content = 'two';
    await server.pass(POLL_MS);
    await server.pass(POLL_MS);
    expect(server.polls).toEqual(['x', 'y', 'y', 'y']);
    expect(server.changes).toEqual(['y']);
  });

  it.each<[string, (upstream: PollingUpstream) => unknown]>([
    ['the resource is unsubscribed', (upstream) => upstream.unsubscribe('x')],
    ['the upstream is stopped', (upstream) => upstream.stop()],
  ])('ignores a poll that ends after %s, and does not poll again', async (_when, end) => {
    await server.upstream.subscribe('x');
    server.holdsReads = true;
    server.content = 'two';
    await server.pass(POLL_MS);
    await end(server.upstream);
    server.completeRead?.();
    await flushPromises();
    await server.pass(POLL_MS * 100);
    expect(server.changes).toEqual([]);
    expect(server.polls).toHaveLength(2);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('polls as often when a resource is subscribed several times', async () => {
    for (let time = 0; time < 3; time++) await server.upstream.subscribe('x');
    const before = server.polls.length;
    await server.pass(POLL_MS);
    expect(server.polls.length - before).toBe(1);
    expect(jest.getTimerCount()).toBe(1);
  });

  it('compares only with polls since the latest subscription', async () => {
    await server.upstream.subscribe('x');
    await server.upstream.unsubscribe('x');
    server.content = 'two';
    await server.upstream.subscribe('x');
    await server.pass(POLL_MS);
    expect(server.changes).toEqual([]);
    expect(jest.getTimerCount()).toBe(1);
  });
});
