import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FirstSync } from './first-sync.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Begins a wait. `isDone` is true when it has ended. */
function startWait(firstSync: FirstSync, timeoutMs: number): { isDone: boolean } {
  const state = { isDone: false };
  void firstSync.wait(timeoutMs).then(() => (state.isDone = true));
  return state;
}

describe('FirstSync', () => {
  it('resolves all waits, and later ones at once', async () => {
    const firstSync = new FirstSync();
    const early = [startWait(firstSync, 1000), startWait(firstSync, 9000)];
    await jest.advanceTimersByTimeAsync(500);
    expect(early.map(({ isDone }) => isDone)).toEqual([false, false]);
    firstSync.complete();
    firstSync.complete();
    const late = startWait(firstSync, 1000);
    await jest.advanceTimersByTimeAsync(0);
    expect([...early, late].map(({ isDone }) => isDone)).toEqual([true, true, true]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('resolves each wait after its timeout', async () => {
    const firstSync = new FirstSync();
    const [short, long] = [startWait(firstSync, 100), startWait(firstSync, 1000)];
    await jest.advanceTimersByTimeAsync(100);
    expect([short.isDone, long.isDone]).toEqual([true, false]);
  });

  it('resolves no wait between a reset and the next completion', async () => {
    const firstSync = new FirstSync();
    firstSync.complete();
    firstSync.reset();
    const first = startWait(firstSync, 9000);
    await jest.advanceTimersByTimeAsync(500);
    firstSync.reset();
    const second = startWait(firstSync, 9000);
    await jest.advanceTimersByTimeAsync(500);
    expect([first.isDone, second.isDone]).toEqual([false, false]);
    firstSync.complete();
    await jest.advanceTimersByTimeAsync(0);
    expect([first.isDone, second.isDone]).toEqual([true, true]);
  });
});
