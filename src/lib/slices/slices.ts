/** Maximum duration of one slice of a sliced job. */
const SLICE_MS = 4;

/**
 * A sliced job calls this function between small steps. While the current slice has time left, the function returns
 * undefined. After that, it returns a promise that resolves when the next slice of the job begins; the job has to await it.
 */
export type Yield = () => Promise<void> | undefined;

/**
 * Resumes at most one job in each iteration of the event loop, so that a request waits for at most one slice however many
 * sliced jobs are in progress. Jobs are resumed in the order in which they yielded.
 */
class SliceScheduler {
  /** The functions that resume the jobs that have yielded. */
  private readonly resumeQueue: (() => void)[] = [];

  /** Begins the first slice of a job. Returns the function that the job calls between its steps. */
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
      this.resumeQueue.push(resolve);
      const isFirst = this.resumeQueue.length === 1;
      if (isFirst) setImmediate(this.resumeOne);
    });
  }

  private readonly resumeOne = (): void => {
    this.resumeQueue.shift()!();
    if (this.resumeQueue.length > 0) setImmediate(this.resumeOne);
  };
}

/** The process has one event loop and therefore one scheduler. */
export const sliceScheduler = new SliceScheduler();
