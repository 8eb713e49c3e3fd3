import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { outcomeOf } from '../../../test/kit/promises.js';
import { completesWithin, withTimeout } from './timeout.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const never = new Promise<never>(() => {});

describe('completesWithin', () => {
  it('resolves to true when the promise is fulfilled in time, and leaves no timer behind', async () => {
    expect(await completesWithin(Promise.resolve('x'), 1000)).toBe(true);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('resolves to false when the time is over, and not earlier', async () => {
    const outcome = outcomeOf(completesWithin(never, 1000));
    await jest.advanceTimersByTimeAsync(999);
    expect(outcome).toEqual({});
    await jest.advanceTimersByTimeAsync(1);
    expect(outcome).toEqual({ value: false });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('rejects when the promise is rejected, and leaves no timer behind', async () => {
    await expect(completesWithin(Promise.reject(new Error('broken')), 1000)).rejects.toThrow('broken');
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('withTimeout', () => {
  it('returns the value of the promise', async () => {
    expect(await withTimeout(Promise.resolve('value'), 1000, () => new Error('late'))).toBe('value');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('rejects with the given error when the time is over', async () => {
    const outcome = outcomeOf(withTimeout(never, 1000, () => new Error('late')));
    await jest.advanceTimersByTimeAsync(1000);
    expect(outcome).toEqual({ error: new Error('late') });
  });
});
