import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { flushPromises } from '../../../test/kit/promises.js';
import { sliceScheduler } from './slices.js';

let now = 0;
beforeEach(() => {
  now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** A job that uses up one slice, yields, and ends. */
async function runJob(error?: Error): Promise<string> {
  const yieldIfDue = sliceScheduler.start();
  now += 10;
  await yieldIfDue();
  if (error) throw error;
  return 'done';
}

describe('sliceScheduler', () => {
  it('does not make a job yield while its slice has time left', () => {
    const yieldIfDue = sliceScheduler.start();
    for (now = 0; now < 4; now++) expect(yieldIfDue()).toBeUndefined();
  });

  it('makes a job yield when its slice is used up, and then starts a new slice', async () => {
    const yieldIfDue = sliceScheduler.start();
    now = 4;
    const waiting = yieldIfDue();
    expect(waiting).toBeInstanceOf(Promise);
    await waiting;
    expect(yieldIfDue()).toBeUndefined();
    now = 7;
    expect(yieldIfDue()).toBeUndefined();
    now = 8;
    const again = yieldIfDue();
    expect(again).toBeInstanceOf(Promise);
    await again;
  });

  it('lets the event loop run four times between any two slices, however many jobs there are', async () => {
    const order: string[] = [];
    const job = async (name: string): Promise<void> => {
      const yieldIfDue = sliceScheduler.start();
      for (let slice = 0; slice < 3; slice++) {
        now += 10;
        await yieldIfDue();
        order.push(name);
      }
    };
    let requests = 0;
    let isDone = false;
    const serve = (): void => {
      order.push('request');
      requests++;
      if (!isDone) setImmediate(serve);
    };
    const all = Promise.all([job('a'), job('b'), job('c')]);
    setImmediate(serve);
    await all;
    isDone = true;
    await flushPromises();
    const requestsBetweenSlices = order
      .join(' ')
      .split(/[abc]/)
      .slice(1, -1)
      .map((part) => part.trim().split(' ').length);
    expect(requestsBetweenSlices).toEqual(Array(8).fill(4));
    expect(order.filter((name) => name !== 'request').slice(0, 3)).toEqual(['a', 'b', 'c']);
    expect(requests).toBeGreaterThanOrEqual(8 * 4);
  });

  it('resumes the other jobs when one fails', async () => {
    const [failed, done] = await Promise.allSettled([runJob(new Error('failed')), runJob()]);
    expect(failed.status).toBe('rejected');
    expect(done).toMatchObject({ value: 'done' });
  });
});
