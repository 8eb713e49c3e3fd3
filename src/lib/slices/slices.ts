/** Maximum duration of one slice of a sliced job. */
const SLICE_MS = 8;

/**
 * A sliced job calls this between small steps. It returns undefined while the current slice has time left, otherwise a
 * promise that resolves when the next slice of the job may begin.
 */
export type Yield = () => Promise<void> | undefined;

/**
 * Runs at most one slice of all sliced jobs in each iteration of the event loop, so that requests wait for one slice
 * however many jobs are in progress. Jobs get their slices in the order in which they yielded.
 */
class SliceScheduler {
  /** Functions that resume the jobs that have yielded. */
  private readonly resumeQueue: (() => void)[] = [];

  /** Begins the first slice of a job. */
  start(): Yield {
    let startedAt = performance.now();
    return () => {
      if (performance.now() - startedAt < SLICE_MS) return undefined;
      return this.nextSlice().then(() => {
        startedAt = performance.now();
      });
    };
  }

  private nextSlice(): Promise<void> {
    return new Promise((resolve) => {
      if (this.resumeQueue.push(resolve) === 1) setImmediate(this.resumeOne);
    });
  }

  private readonly resumeOne = (): void => {
    this.resumeQueue.shift()!();
    if (this.resumeQueue.length > 0) setImmediate(this.resumeOne);
  };
}

/** The process has one event loop and therefore one scheduler. */
export const sliceScheduler = new SliceScheduler();
