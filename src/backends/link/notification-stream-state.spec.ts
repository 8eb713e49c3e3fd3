import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { flushPromises } from '../../../test/kit/promises.js';
import { NotificationStreamState } from './notification-stream-state.js';
import type { StreamState } from './transport.js';

describe('NotificationStreamState', () => {
  let state: NotificationStreamState;
  let events: string[];

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    state = new NotificationStreamState();
    events = [];
    state.onGap(() => events.push('gap'));
    void state.ready.then(() => events.push('ready'));
  });
  afterEach(() => void jest.useRealTimers());

  /** The events after these state changes, in order. */
  async function after(...states: readonly StreamState[]): Promise<string[]> {
    await flushPromises();
    for (const next of states) {
      state.update(next);
      await flushPromises();
    }
    return events;
  }

  it('is ready when it is marked as ready', async () => {
    state.markReady();
    expect(await after()).toEqual(['ready']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is ready when the stream is opened for the first time, and reports no gap', async () => {
    state.startTimeout();
    expect(await after()).toEqual([]);
    expect(await after('open')).toEqual(['ready']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is ready when the server does not offer a stream', async () => {
    state.startTimeout();
    expect(await after('none')).toEqual(['ready']);
  });

  it('reports a gap after every lost stream that is not resumed', async () => {
    state.startTimeout();
    expect(await after('open', 'lost', 'open', 'lost', 'resumed', 'silent', 'lost', 'open')).toEqual([
      'ready',
      'gap',
      'gap',
    ]);
  });

  it('is ready after the timeout, and reports a gap when the stream is opened later', async () => {
    state.startTimeout();
    expect(await after('lost')).toEqual([]);
    jest.advanceTimersByTime(1000);
    expect(await after()).toEqual(['ready']);
    expect(await after('open')).toEqual(['ready', 'gap']);
  });

  it.each<[StreamState[], string]>([
    [[], 'opening'],
    [['open'], 'open'],
    [['open', 'silent'], 'open'],
    [['open', 'lost'], 'lost'],
    [['open', 'lost', 'resumed'], 'open'],
    [['none'], 'none'],
  ])('after %j has the status %s', (states, status) => {
    for (const next of states) state.update(next);
    expect(state.status).toBe(status);
  });

  it('has the status open when the stream is shared with requests', () => {
    state.markShared();
    expect(state.status).toBe('open');
  });

  describe('with a check', () => {
    let checks: ((isLinkInUse: boolean) => void)[];

    beforeEach(() => {
      checks = [];
      state.checkGaps(() => new Promise((resolve) => void checks.push(resolve)));
    });

    it('reports a gap at once, before the check, if the stream is open', async () => {
      expect(await after('open', 'lost', 'open')).toEqual(['ready', 'gap']);
      checks[0]!(false);
      expect(await after()).toEqual(['ready', 'gap']);
    });

    it.each([
      [true, ['ready', 'gap']],
      [false, ['ready']],
    ])(
      'reports that the server no longer offers the stream if the check says %s',
      async (isInUse, expected) => {
        expect(await after('open', 'none')).toEqual(['ready']);
        checks[0]!(isInUse);
        expect(await after()).toEqual(expected);
      },
    );
  });
});
