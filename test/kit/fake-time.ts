import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, jest } from '@jest/globals';
import { flushPromises } from './promises.js';

/** Fakes timers, takes the jitter out of backoff and silences the log in every test of the file. */
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

/** Advances the clock and runs what is due. */
export async function advanceTime(ms: number): Promise<void> {
  await flushPromises();
  jest.advanceTimersByTime(ms);
  await flushPromises();
}
