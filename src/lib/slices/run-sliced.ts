import type { Yield } from './slices.js';

/** A job as a generator. It yields between steps, so that its caller can let the event loop run in between. */
export type Steps<Result = void> = Generator<void, Result>;

/** Runs a job in slices. If the job fits into the current slice, it is finished before `runSliced` returns the promise. */
export async function runSliced<Result>(steps: Steps<Result>, yieldIfDue: Yield): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    const pause = yieldIfDue();
    if (pause) await pause;
  }
}

/** Runs a whole job without yielding to the event loop. For short jobs only. */
export function runAtOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
