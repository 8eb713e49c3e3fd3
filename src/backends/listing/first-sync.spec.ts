import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FirstSync } from './first-sync.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Whether a wait that begins now has ended. */
function waiter(firstSync: FirstSync, timeoutMs: number): { isDone: boolean } {
  const state = { isDone: false };
  void firstSync.wait(timeoutMs).then(() => (state.isDone = true));
  return state;
}

describe('FirstSync', () => {
  it('resolves all waits, and later ones at once', async () => {
    const firstSync = new FirstSync();
    const early = [waiter(firstSync, 1000), waiter(firstSync, 9000)];
    await jest.advanceTimersByTimeAsync(500);
    expect(early.map(({ isDone }) => isDone)).toEqual([false, false]);
    firstSync.complete();
    firstSync.complete();
    const late = waiter(firstSync, 1000);
    await jest.advanceTimersByTimeAsync(0);
    expect([...early, late].map(({ isDone }) => isDone)).toEqual([true, true, true]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('resolves each wait after its timeout', async () => {
    const firstSync = new FirstSync();
    const [short, long] = [waiter(firstSync, 100), waiter(firstSync, 1000)];
    await jest.advanceTimersByTimeAsync(100);
    expect([short.isDone, long.isDone]).toEqual([true, false]);
  });

  it('resolves no wait between a reset and the next completion', async () => {
    const firstSync = new FirstSync();
    firstSync.complete();
    firstSync.reset();
    const first = waiter(firstSync, 9000);
    await jest.advanceTimersByTimeAsync(500);
    firstSync.reset();
    const second = waiter(firstSync, 9000);
    await jest.advanceTimersByTimeAsync(500);
    expect([first.isDone, second.isDone]).toEqual([false, false]);
    firstSync.complete();
    await jest.advanceTimersByTimeAsync(0);
    expect([first.isDone, second.isDone]).toEqual([true, true]);
  });
});
