import type { Steps } from '../../src/lib/slices/run-sliced.js';

/** Runs a job in steps to its end, without yielding to the event loop. */
export function runSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Runs a job in steps to its end. Returns how often it could have yielded to the event loop. */
export function countSteps(steps: Steps<unknown>): number {
  let count = 0;
  while (!steps.next().done) count++;
  return count;
}
