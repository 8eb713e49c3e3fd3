import { completesWithin } from '../../lib/deadlines/timeout.js';

/** Lets callers wait until the first sync over the current link is complete. */
export class FirstSync {
  private isComplete = false;
  private resolve!: () => void;
  private completed = this.pending();

  complete(): void {
    this.isComplete = true;
    this.resolve();
  }

  /** From now on, the next sync counts as the first one. Pending waits continue until that sync is complete. */
  reset(): void {
    if (!this.isComplete) return;
    this.isComplete = false;
    this.completed = this.pending();
  }

  /** Resolves when the first sync is complete, or after the timeout. */
  async wait(timeoutMs: number): Promise<void> {
    await completesWithin(this.completed, timeoutMs);
  }

  private pending(): Promise<void> {
    return new Promise((resolve) => (this.resolve = resolve));
  }
}
