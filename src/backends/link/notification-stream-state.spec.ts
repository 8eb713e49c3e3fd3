import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { settled } from '../../../test/kit/fake-link.js';
import { NotificationStreamState } from './notification-stream-state.js';
import type { StreamState } from './transport.js';

describe('Hearing', () => {
  let hearing: NotificationStreamState;
  let heard: string[];

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    hearing = new NotificationStreamState();
    heard = [];
    hearing.onGap(() => heard.push('gap'));
    void hearing.opened.then(() => heard.push('begun'));
  });
  afterEach(() => void jest.useRealTimers());

  /** What comes of these, in order. */
  async function after(...states: readonly StreamState[]): Promise<string[]> {
    await settled();
    for (const state of states) {
      hearing.update(state);
      await settled();
    }
    return heard;
  }

  it('begins at once where there is no stream to wait for', async () => {
    hearing.expect(false);
    expect(await after()).toEqual(['begun']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('begins with the first stream, and nothing was missed before it', async () => {
    hearing.expect(true);
    expect(await after()).toEqual([]);
    expect(await after('open')).toEqual(['begun']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('begins also where no such stream is offered', async () => {
    hearing.expect(true);
    expect(await after('none')).toEqual(['begun']);
  });

  it('has a gap after every stream that broke off, but not where one goes on', async () => {
    hearing.expect(true);
    expect(await after('open', 'lost', 'open', 'lost', 'resumed', 'silent', 'lost', 'open')).toEqual([
      'begun',
      'gap',
      'gap',
    ]);
  });

  it('waits through a first stream that is refused, but not for ever, and has a gap when it comes late', async () => {
    hearing.expect(true);
    expect(await after('lost')).toEqual([]);
    jest.advanceTimersByTime(1000);
    expect(await after()).toEqual(['begun']);
    expect(await after('open')).toEqual(['begun', 'gap']);
  });
});
