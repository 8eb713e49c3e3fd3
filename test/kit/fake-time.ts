import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, jest } from '@jest/globals';
import { flushPromises } from './promises.js';

/** In every test of the file: fakes timers, removes the jitter of backoff and turns the log off. */
export function useFakeTime(): void {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    jest.spyOn(Math, 'random').mockReturnValue(1);
    Logger.overrideLogger(false);
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });
}

/** Advances the clock, and runs due timers and promise callbacks. */
export async function advanceTime(ms: number): Promise<void> {
  await flushPromises();
  jest.advanceTimersByTime(ms);
  await flushPromises();
}
