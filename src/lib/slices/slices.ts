/** Maximum duration of one slice of a sliced job. */
const SLICE_MS = 4;
/**
 * A slice runs in every fourth iteration of the event loop. A request of a client takes four iterations (docs/decisions/0015), so
 * it waits for about one slice, and would wait for four if every iteration had one. An iteration without other work takes
 * microseconds.
 */
const ITERATIONS_PER_SLICE = 4;

/**
 * A sliced job calls this function between small steps. While the current slice has time left, the function returns
 * undefined. After that, it returns a promise that resolves when the next slice of the job begins; the job has to await it.
 */
export type Yield = () => Promise<void> | undefined;

/**
 * Resumes one job in every fourth iteration of the event loop, so that a request waits for about one slice however many sliced
 * jobs are in progress. Jobs are resumed in the order in which they yielded.
 */
class SliceScheduler {
  /** The functions that resume the jobs that have yielded. */
  private readonly resumeQueue: (() => void)[] = [];
  /** Iterations of the event loop until the next slice. */
  private iterationsLeft = 0;

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
      if (isFirst) this.awaitSlice();
    });
  }

  private awaitSlice(): void {
    this.iterationsLeft = ITERATIONS_PER_SLICE;
    setImmediate(this.countIteration);
  }

  private readonly countIteration = (): void => {
    this.iterationsLeft--;
    if (this.iterationsLeft > 0) {
      setImmediate(this.countIteration);
      return;
    }
    this.resumeQueue.shift()!();
    if (this.resumeQueue.length > 0) this.awaitSlice();
  };
}

/** The process has one event loop and therefore one scheduler. */
export const sliceScheduler = new SliceScheduler();
