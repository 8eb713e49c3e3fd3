import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { outcomeOf } from '../../../test/kit/fake-link.js';
import { within } from './within.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const never = new Promise(() => {});

describe('within', () => {
  it('says that the event came, and leaves no timer behind', async () => {
    expect(await within(Promise.resolve('x'), 1000)).toBe(true);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('says that it did not come in time, and not earlier', async () => {
    const outcome = outcomeOf(within(never, 1000));
    await jest.advanceTimersByTimeAsync(999);
    expect(outcome).toEqual({});
    await jest.advanceTimersByTimeAsync(1);
    expect(outcome).toEqual({ value: false });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('fails as the event fails, and leaves no timer behind', async () => {
    await expect(within(Promise.reject(new Error('broken')), 1000)).rejects.toThrow('broken');
    expect(jest.getTimerCount()).toBe(0);
  });
});
