import { completesWithin } from '../../lib/deadlines/timeout.js';

/** Lets callers wait until the first sync is complete. */
export class FirstSync {
  private isComplete = false;
  private resolve!: () => void;
  private completion = this.createCompletion();

  complete(): void {
    this.isComplete = true;
    this.resolve();
  }

  /** Makes the next sync count as the first one. Calls of `wait` that have not resolved wait for that sync. */
  reset(): void {
    if (!this.isComplete) return;
    this.isComplete = false;
    this.completion = this.createCompletion();
  }

  /** Resolves when the first sync is complete, or after the timeout. */
  async wait(timeoutMs: number): Promise<void> {
    await completesWithin(this.completion, timeoutMs);
  }

  private createCompletion(): Promise<void> {
    return new Promise((resolve) => (this.resolve = resolve));
  }
}
