/** What one slice may take before others get their turn. */
const SLICE_MS = 8;
/** The same in steps: what a step writes to a socket is written after the slice, where nobody sees the time it takes. */
const SLICE_STEPS = 512;
/** Beyond this nothing gives way any more: what comes in has to wait until what came is out. */
const MOST_WAITING = 10_000;

/** One piece of work, step by step, that begins with the first. */
export interface Work {
  /** False when it was the last. It is told whether others had their turn since the one before. */
  step(isLater: boolean): boolean;
}

/**
 * Brings news to many, one piece after the other and in the order in which they came, so that nobody gets a later one
 * first. It begins at once and gives way when it takes long; news that waits gives place to later news of the same.
 */
export class FanOut {
  private readonly waiting = new Map<string, Work>();
  private current: Work | undefined;

  constructor(private readonly failed: (error: unknown) => void) {}

  /** False when it takes the place of what waited under the same key. */
  add(key: string, work: Work): boolean {
    if (!this.current) {
      this.current = work;
      this.run(false);
      return true;
    }
    const isNew = !this.waiting.delete(key);
    this.waiting.set(key, work);
    return isNew;
  }

  private readonly run = (isLater: boolean): void => {
    const startedAt = performance.now();
    let steps = 0;
    while ((this.current ??= this.next())) {
      if (this.isDone(this.current, isLater && steps === 0)) this.current = undefined;
      const isLong =
        ++steps >= SLICE_STEPS || ((steps & 31) === 0 && performance.now() - startedAt > SLICE_MS);
      if (isLong && this.current && this.waiting.size < MOST_WAITING) {
        setImmediate(this.run, true);
        return;
      }
    }
  };

  /** Takes one step. Work that fails is over, and what waits behind it goes on. */
  private isDone(work: Work, isLater: boolean): boolean {
    try {
      return !work.step(isLater);
    } catch (error) {
      this.failed(error);
      return true;
    }
  }

  private next(): Work | undefined {
    for (const [key, work] of this.waiting) {
      this.waiting.delete(key);
      return work;
    }
    return undefined;
  }
}
