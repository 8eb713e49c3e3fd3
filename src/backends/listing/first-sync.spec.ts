import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FirstSync } from './first-sync.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Whether somebody who waits has been let go. */
function waiter(settling: FirstSync, longestMs: number): { isDone: boolean } {
  const state = { isDone: false };
  void settling.wait(longestMs).then(() => (state.isDone = true));
  return state;
}

describe('Settling', () => {
  it('lets everybody go who waits, and who comes later', async () => {
    const settling = new FirstSync();
    const early = [waiter(settling, 1000), waiter(settling, 9000)];
    await jest.advanceTimersByTimeAsync(500);
    expect(early.map(({ isDone }) => isDone)).toEqual([false, false]);
    settling.complete();
    settling.complete();
    const late = waiter(settling, 1000);
    await jest.advanceTimersByTimeAsync(0);
    expect([...early, late].map(({ isDone }) => isDone)).toEqual([true, true, true]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('lets everybody go after as long as they are ready to wait', async () => {
    const settling = new FirstSync();
    const [impatient, patient] = [waiter(settling, 100), waiter(settling, 1000)];
    await jest.advanceTimersByTimeAsync(100);
    expect([impatient.isDone, patient.isDone]).toEqual([true, false]);
  });

  it('that begins again lets nobody go who comes from then on, until it is done again', async () => {
    const settling = new FirstSync();
    settling.complete();
    settling.reset();
    const first = waiter(settling, 9000);
    await jest.advanceTimersByTimeAsync(500);
    settling.reset();
    const second = waiter(settling, 9000);
    await jest.advanceTimersByTimeAsync(500);
    expect([first.isDone, second.isDone]).toEqual([false, false]);
    settling.complete();
    await jest.advanceTimersByTimeAsync(0);
    expect([first.isDone, second.isDone]).toEqual([true, true]);
  });
});
