import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, jest } from '@jest/globals';
import { flushPromises } from './promises.js';

/** For specs of pauses and of patience: time stands still, pauses have their full length, and nothing is logged. */
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

/** Time goes by, and whatever can go on goes on. */
export async function advanceTime(ms: number): Promise<void> {
  await flushPromises();
  jest.advanceTimersByTime(ms);
  await flushPromises();
}
