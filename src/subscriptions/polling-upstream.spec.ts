import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { outcomeOf, settled } from '../../test/kit/fake-link.js';
import { JsonText } from '../lib/json-text/json-text.js';
import { PollingUpstream } from './polling-upstream.js';

const POLL_MS = 1000;

/** A server whose resources have the words that the spec gives them. */
class Looked {
  readonly looks: string[] = [];
  readonly changes: string[] = [];
  words: string | Error = 'one';
  /** Reads wait until it is called. */
  answer: (() => void) | undefined;
  isSlow = false;
  readonly upstream = new PollingUpstream(
    async (uri) => {
      this.looks.push(uri);
      if (this.isSlow) await new Promise<void>((resolve) => (this.answer = resolve));
      if (this.words instanceof Error) throw this.words;
      return new JsonText(this.words);
    },
    (uri) => this.changes.push(uri),
    POLL_MS,
  );

  async pass(ms: number): Promise<void> {
    jest.advanceTimersByTime(ms);
    await settled();
  }
}

describe('PollingUpstream', () => {
  let server: Looked;
  let random: number;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    random = 0.5;
    jest.spyOn(Math, 'random').mockImplementation(() => random);
    server = new Looked();
  });
  afterEach(() => {
    server.upstream.stop();
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it('has seen the resource before anybody is told that it is watched', async () => {
    server.isSlow = true;
    const outcome = outcomeOf(server.upstream.subscribe('x'));
    await settled();
    expect(server.looks).toEqual(['x']);
    expect(outcome).toEqual({});
    server.answer?.();
    await settled();
    expect(outcome).toHaveProperty('value');
    expect(server.changes).toEqual([]);
  });

  it('tells of something else than before, once for each time', async () => {
    await server.upstream.subscribe('x');
    await server.pass(POLL_MS);
    expect(server.changes).toEqual([]);
    server.words = 'two';
    await server.pass(POLL_MS);
    await server.pass(POLL_MS);
    expect(server.changes).toEqual(['x']);
    server.words = 'one';
    await server.pass(POLL_MS);
    expect(server.changes).toEqual(['x', 'x']);
    expect(server.looks).toHaveLength(5);
  });

  it.each([
    [0, 800],
    [0.5, 1000],
    [1 - Number.EPSILON, 1200],
  ])(
    'looks again after a pause that is drawn between 0.8 and 1.2 of what was asked for',
    async (drawn, ms) => {
      random = drawn;
      await server.upstream.subscribe('x');
      await server.pass(ms - 1);
      expect(server.looks).toHaveLength(1);
      await server.pass(1);
      expect(server.looks).toHaveLength(2);
    },
  );

  it('looks less often the more looks fail, down to a part, and as often as before when one does not', async () => {
    await server.upstream.subscribe('x');
    server.words = new Error('gone');
    for (const factor of [1, 2, 4, 8, 16, 32, 32]) {
      const before = server.looks.length;
      await server.pass(POLL_MS * factor - 1);
      expect([factor, server.looks.length]).toEqual([factor, before]);
      await server.pass(1);
      expect([factor, server.looks.length]).toEqual([factor, before + 1]);
    }
    server.words = 'one';
    await server.pass(POLL_MS * 32);
    const before = server.looks.length;
    await server.pass(POLL_MS);
    expect(server.looks).toHaveLength(before + 1);
    expect(server.changes).toEqual([]);
  });

  it('takes what it sees after a first look that failed for a change: nobody knows what was there', async () => {
    server.words = new Error('not yet');
    await server.upstream.subscribe('x');
    server.words = 'one';
    await server.pass(POLL_MS * 2);
    expect(server.changes).toEqual(['x']);
    await server.pass(POLL_MS);
    expect(server.changes).toEqual(['x']);
  });

  it('never has two looks at one resource under way', async () => {
    await server.upstream.subscribe('x');
    server.isSlow = true;
    await server.pass(POLL_MS);
    await server.pass(POLL_MS * 10);
    expect(server.looks).toHaveLength(2);
    server.answer?.();
    await settled();
    await server.pass(POLL_MS);
    expect(server.looks).toHaveLength(3);
  });

  it('looks at each resource on its own, until nobody wants that one any more', async () => {
    await Promise.all(['x', 'y'].map((uri) => server.upstream.subscribe(uri)));
    await server.upstream.unsubscribe('x');
    server.words = 'two';
    await server.pass(POLL_MS);
    await server.pass(POLL_MS);
    expect(server.looks).toEqual(['x', 'y', 'y', 'y']);
    expect(server.changes).toEqual(['y']);
  });

  it.each<[string, (upstream: PollingUpstream) => unknown]>([
    ['nobody wants it any more', (upstream) => upstream.unsubscribe('x')],
    ['it is stopped', (upstream) => upstream.stop()],
  ])('says nothing of a look that comes back when %s, and looks no more', async (_when, end) => {
    await server.upstream.subscribe('x');
    server.isSlow = true;
    server.words = 'two';
    await server.pass(POLL_MS);
    await end(server.upstream);
    server.answer?.();
    await settled();
    await server.pass(POLL_MS * 100);
    expect(server.changes).toEqual([]);
    expect(server.looks).toHaveLength(2);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('looks no more often when it is asked for what it watches already', async () => {
    for (let time = 0; time < 3; time++) await server.upstream.subscribe('x');
    const before = server.looks.length;
    await server.pass(POLL_MS);
    expect(server.looks.length - before).toBe(1);
    expect(jest.getTimerCount()).toBe(1);
  });

  it('begins anew when it is wanted again', async () => {
    await server.upstream.subscribe('x');
    await server.upstream.unsubscribe('x');
    server.words = 'two';
    await server.upstream.subscribe('x');
    await server.pass(POLL_MS);
    expect(server.changes).toEqual([]);
    expect(jest.getTimerCount()).toBe(1);
  });
});
