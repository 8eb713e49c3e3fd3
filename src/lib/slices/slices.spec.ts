import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { settled } from '../../../test/kit/fake-link.js';
import { turns } from './slices.js';

let now = 0;
beforeEach(() => {
  now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** A slice of work that is over. */
async function workOn(error?: Error): Promise<string> {
  const pause = turns.pause();
  now += 10;
  await pause();
  if (error) throw error;
  return 'done';
}

describe('long work', () => {
  it('goes on as long as its slice lasts', () => {
    const pause = turns.pause();
    for (now = 0; now < 8; now++) expect(pause()).toBeUndefined();
  });

  it('gives way when its slice is over, and has a new one when it is its turn again', async () => {
    const pause = turns.pause();
    now = 8;
    const waiting = pause();
    expect(waiting).toBeInstanceOf(Promise);
    await waiting;
    expect(pause()).toBeUndefined();
    now = 15;
    expect(pause()).toBeUndefined();
    now = 16;
    const again = pause();
    expect(again).toBeInstanceOf(Promise);
    await again;
  });

  it('lets everybody else have a turn before each slice of it, however much work there is', async () => {
    const order: string[] = [];
    const work = async (name: string): Promise<void> => {
      const pause = turns.pause();
      for (let slice = 0; slice < 3; slice++) {
        now += 10;
        await pause();
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
    const all = Promise.all([work('a'), work('b'), work('c')]);
    setImmediate(serve);
    await all;
    isDone = true;
    await settled();
    const slices = order
      .join(' ')
      .split('request')
      .map((part) => part.trim().split(' ').filter(Boolean));
    expect(Math.max(...slices.map(({ length }) => length))).toBe(1);
    expect(order.filter((name) => name !== 'request').slice(0, 3)).toEqual(['a', 'b', 'c']);
    expect(requests).toBeGreaterThan(7);
  });

  it('goes on after work that failed meanwhile', async () => {
    const [failed, done] = await Promise.allSettled([workOn(new Error('failed')), workOn()]);
    expect(failed.status).toBe('rejected');
    expect(done).toMatchObject({ value: 'done' });
  });
});
