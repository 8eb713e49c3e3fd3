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
    void state.ready.then(() => events.push('open'));
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

  it('is open at once without a separate stream', async () => {
    state.markReady();
    expect(await after()).toEqual(['open']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is open with the first stream, without a gap before it', async () => {
    state.startTimeout();
    expect(await after()).toEqual([]);
    expect(await after('open')).toEqual(['open']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is open also when the server does not offer a stream', async () => {
    state.startTimeout();
    expect(await after('none')).toEqual(['open']);
  });

  it('reports a gap after every lost stream that is not resumed', async () => {
    state.startTimeout();
    expect(await after('open', 'lost', 'open', 'lost', 'resumed', 'silent', 'lost', 'open')).toEqual([
      'open',
      'gap',
      'gap',
    ]);
  });

  it('waits for the first stream up to the timeout, and reports a gap when it is opened later', async () => {
    state.startTimeout();
    expect(await after('lost')).toEqual([]);
    jest.advanceTimersByTime(1000);
    expect(await after()).toEqual(['open']);
    expect(await after('open')).toEqual(['open', 'gap']);
  });
});
