import { completesWithin } from '../../lib/deadlines/timeout.js';

/** Whether the first sync over the current link is complete; callers can wait for it. */
export class FirstSync {
  private isComplete = false;
  private resolve!: () => void;
  private completed = this.pending();

  complete(): void {
    this.isComplete = true;
    this.resolve();
  }

  /** The next sync counts as the first one. Callers that are waiting go on waiting for it. */
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
