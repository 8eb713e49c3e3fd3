/** Maximum time that processing long input may take in one iteration of the event loop. */
const INPUT_MS = 2;

/**
 * Limits the time that one kind of work, such as processing long input, takes in one iteration of the event loop, for all
 * connections together. Work beyond the budget waits for a later iteration and runs in the order of its arrival.
 */
export class IterationBudget {
  private spentMs = 0;
  private isResetScheduled = false;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly budgetMs = INPUT_MS) {}

  /** Adds the time of work that the caller ran itself. Returns true when the budget of this iteration is used up. */
  charge(ms: number): boolean {
    this.spentMs += ms;
    this.scheduleReset();
    return this.spentMs >= this.budgetMs;
  }

  /** Whether work may run now: the budget is not used up, and no earlier work waits. */
  get hasTime(): boolean {
    return this.waiting.length === 0 && this.spentMs < this.budgetMs;
  }

  /** Runs the work and returns true if there is time. If it returns false, the caller passes the work to `runLater`. */
  tryRun(work: () => void): boolean {
    if (!this.hasTime) return false;
    this.run(work);
    return true;
  }

  /** Runs work now and charges its time. */
  run<Args extends readonly unknown[]>(work: (...args: Args) => void, ...args: Args): void {
    const startedAt = performance.now();
    try {
      work(...args);
    } finally {
      this.charge(performance.now() - startedAt);
    }
  }

  runLater(work: () => void): void {
    this.waiting.push(work);
    this.scheduleReset();
  }

  /** Like `runLater`; settles with the result of the work. */
  runWhenDue<Result>(work: () => Result | Promise<Result>): Promise<Result> {
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

  private scheduleReset(): void {
    if (this.isResetScheduled) return;
    this.isResetScheduled = true;
    setImmediate(this.reset);
  }

  private readonly reset = (): void => {
    this.isResetScheduled = false;
    this.spentMs = 0;
    // The next reset is scheduled before any work runs, so that work that throws does not stop the work after it.
    if (this.waiting.length > 0) this.scheduleReset();
    while (this.waiting.length > 0 && this.spentMs < this.budgetMs) this.run(this.waiting.shift()!);
  };
}

/** The process has one event loop and therefore one budget for input from outside. */
export const inputBudget = new IterationBudget();
