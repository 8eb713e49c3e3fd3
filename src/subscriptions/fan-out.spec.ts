import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { settled } from '../../test/kit/fake-link.js';
import { FanOut, type Work } from './fan-out.js';

/** Work of so many steps, each of which is written down; a mark where others had their turn. */
function steps(name: string, count: number, done: string[]): Work {
  let last = 0;
  return {
    step: (isLater) => {
      if (isLater) done.push('|');
      done.push(`${name}${++last}`);
      return last < count;
    },
  };
}

function fail(error: unknown): never {
  throw error;
}

/** Every look at the clock takes a second. */
function slowClock(): void {
  let now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => (now += 1000));
}

describe('FanOut', () => {
  afterEach(() => void jest.restoreAllMocks());

  it('does at once what does not take long', () => {
    const [fanOut, done] = [new FanOut(fail), [] as string[]];
    expect(fanOut.add('a', steps('a', 100, done))).toBe(true);
    expect(done).toHaveLength(100);
    fanOut.add('a', steps('b', 1, done));
    expect(done.at(-1)).toBe('b1');
  });

  it('gives way when it takes long, says so, and keeps the order', async () => {
    slowClock();
    const [fanOut, done] = [new FanOut(fail), [] as string[]];
    fanOut.add('a', steps('a', 70, done));
    expect(done).toHaveLength(32);
    fanOut.add('b', steps('b', 1, done));
    await settled();
    expect(done.slice(31, 35)).toEqual(['a32', '|', 'a33', 'a34']);
    await settled();
    expect(done.at(-1)).toBe('b1');
    expect(done.filter((step) => step !== '|')).toHaveLength(71);
  });

  it('lets later news take the place of those that wait, but not of those on their way', async () => {
    slowClock();
    const [fanOut, done] = [new FanOut(fail), [] as string[]];
    const outcomes = ['a', 'a', 'b', 'a'].map((key, n) => fanOut.add(key, steps(`${n}:`, 40, done)));
    expect(outcomes).toEqual([true, true, true, false]);
    for (let turn = 0; turn < 6; turn++) await settled();
    expect(done.filter((step) => step.endsWith(':1'))).toEqual(['0:1', '2:1', '3:1']);
  });

  it('gives way no more when too much waits', async () => {
    slowClock();
    const [fanOut, done] = [new FanOut(fail), [] as string[]];
    fanOut.add('first', steps('a', 1000, done));
    for (let n = 0; n < 10_000; n++) fanOut.add(`${n}`, steps('b', 1, []));
    fanOut.add('last', steps('c', 1, done));
    expect(done).toHaveLength(32);
    await settled();
    expect(done.slice(0, 1001).at(-1)).toBe('a1000');
  });

  it('gives way after so many steps, however little time they took', async () => {
    const [fanOut, done] = [new FanOut(fail), [] as string[]];
    fanOut.add('a', steps('a', 1000, done));
    expect(done).toHaveLength(512);
    await settled();
    expect(done.at(-1)).toBe('a1000');
  });

  it('goes on with what waits when something fails', async () => {
    slowClock();
    const failures: unknown[] = [];
    const [fanOut, done] = [new FanOut((error) => failures.push(error)), [] as string[]];
    const begun = steps('a', 40, done);
    const failing = (isLater: boolean): boolean => {
      if (!begun.step(isLater)) throw new Error('oops');
      return true;
    };
    fanOut.add('a', { step: failing });
    fanOut.add('b', steps('b', 1, done));
    await settled();
    expect(done.at(-1)).toBe('b1');
    expect(failures).toMatchObject([{ message: 'oops' }]);
    fanOut.add('c', steps('c', 1, done));
    expect(done.at(-1)).toBe('c1');
  });

  it('takes news that come of news', () => {
    const [fanOut, done] = [new FanOut(fail), [] as string[]];
    const chain = (): boolean => {
      fanOut.add('b', steps('b', 1, done));
      done.push('a');
      return false;
    };
    fanOut.add('a', { step: chain });
    expect(done).toEqual(['a', 'b1']);
  });
});
