import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { RetryTimer } from './retry-timer.js';

describe('RetryTimer', () => {
  let retry: RetryTimer;
  let attempts: number;

  beforeEach(() => {
    jest.useFakeTimers();
    jest.spyOn(Math, 'random').mockReturnValue(1);
    attempts = 0;
    retry = new RetryTimer(() => attempts++, { firstMs: 5000, maxMs: 300_000 });
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  /** Plans an attempt and waits for it. Returns the delay. */
  function delay(): number {
    retry.plan();
    const [before, startedAt] = [attempts, Date.now()];
    jest.advanceTimersToNextTimer();
    expect(attempts).toBe(before + 1);
    return Date.now() - startedAt;
  }

  it('attempts once, however often an attempt was planned before', () => {
    for (let n = 0; n < 3; n++) retry.plan();
    jest.advanceTimersByTime(4999);
    expect(attempts).toBe(0);
    jest.advanceTimersByTime(1);
    expect(attempts).toBe(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('doubles the delay with every attempt, up to the limit', () => {
    const seconds = Array.from({ length: 8 }, () => delay() / 1000);
    expect(seconds).toEqual([5, 10, 20, 40, 80, 160, 300, 300]);
  });

  it('starts with a short delay again after a success', () => {
    expect([delay(), delay()]).toEqual([5000, 10_000]);
    retry.succeeded();
    expect(delay()).toBe(5000);
  });

  it('keeps the planned attempt and its delay when another operation succeeds', () => {
    delay();
    retry.plan();
    retry.succeeded();
    jest.advanceTimersByTime(10_000);
    expect(attempts).toBe(2);
    expect(delay()).toBe(20_000);
  });

  it('leaves no timer and starts with a short delay again after it was stopped', () => {
    delay();
    retry.plan();
    retry.stop();
    expect(jest.getTimerCount()).toBe(0);
    expect(delay()).toBe(5000);
    expect(attempts).toBe(2);
  });
});
