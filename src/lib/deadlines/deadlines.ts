/** Something with a point in time, on the clock of `performance.now()`, at which it has waited long enough. */
interface Waiting {
  readonly deadline: number;
}

/**
 * One timer for many deadlines. Most waits end long before theirs, so nothing is done when one begins or ends
 * but a comparison; the timer looks through what is left only when the earliest deadline comes.
 */
export class Deadlines<T extends Waiting> {
  private timer: NodeJS.Timeout | undefined;
  private dueAt = Infinity;

  constructor(
    private readonly waiting: () => Iterable<T>,
    private readonly expire: (item: T) => void,
  ) {}

  watch(deadline: number): void {
    if (deadline >= this.dueAt) return;
    clearTimeout(this.timer);
    this.dueAt = deadline;
    this.timer = setTimeout(() => this.sweep(), Math.max(0, deadline - performance.now()) + 1);
    this.timer.unref();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.dueAt = Infinity;
  }

  private sweep(): void {
    this.dueAt = Infinity;
    const now = performance.now();
    let next = Infinity;
    for (const item of this.waiting()) {
      if (item.deadline <= now) this.expire(item);
      // Looked at afterwards: whoever expires may have been given more time.
      if (item.deadline > now) next = Math.min(next, item.deadline);
    }
    if (next < Infinity) this.watch(next);
  }
}
