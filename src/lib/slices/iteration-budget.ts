/** Maximum time for pieces of long input in one iteration of the event loop. */
const BUDGET_MS = 2;

/**
 * Limits the time that long input takes in one iteration of the event loop, over all connections. Work beyond the budget
 * waits for a later iteration, in order.
 */
export class IterationBudget {
  private spentMs = 0;
  private isResetScheduled = false;
  private readonly waiting: (() => void)[] = [];

  /** Adds time that was spent outside `tryRun` and `runLater`. True when the budget of this iteration is used up. */
  charge(ms: number): boolean {
    this.spentMs += ms;
    this.scheduleReset();
    return this.spentMs >= BUDGET_MS;
  }

  /** Runs the work if the budget is not used up. Otherwise returns false: the caller has to pass the work to `runLater`. */
  tryRun(work: () => void): boolean {
    if (this.waiting.length > 0 || this.spentMs >= BUDGET_MS) return false;
    this.run(work);
    return true;
  }

  runLater(work: () => void): void {
    this.waiting.push(work);
    this.scheduleReset();
  }

  /** Like `runLater`; resolves with the result of the work. */
  runWhenDue<Result>(work: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.runLater(() => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  private run(work: () => void): void {
    const startedAt = performance.now();
    try {
      work();
    } finally {
      this.charge(performance.now() - startedAt);
    }
  }

  private scheduleReset(): void {
    if (this.isResetScheduled) return;
    this.isResetScheduled = true;
    setImmediate(this.reset);
  }

  private readonly reset = (): void => {
    this.isResetScheduled = false;
    this.spentMs = 0;
    // Scheduled before any work runs: an error in one piece of work must not stop the next piece.
    if (this.waiting.length > 0) this.scheduleReset();
    while (this.waiting.length > 0 && this.spentMs < BUDGET_MS) this.run(this.waiting.shift()!);
  };
}

/** The process has one event loop and therefore one budget for input from outside. */
export const inputBudget = new IterationBudget();
