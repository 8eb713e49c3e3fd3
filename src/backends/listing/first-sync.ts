import { completesWithin } from '../../lib/deadlines/timeout.js';

/** Something that is up in the air at first, and whenever it begins again, until it is done. */
export class FirstSync {
  private isDone = false;
  private release!: () => void;
  private settled = this.pending();

  complete(): void {
    this.isDone = true;
    this.release();
  }

  /** Who waits already goes on waiting, for the end of this one. */
  reset(): void {
    if (!this.isDone) return;
    this.isDone = false;
    this.settled = this.pending();
  }

  /** Resolves when it has settled, or after so long. */
  async wait(longestMs: number): Promise<void> {
    await completesWithin(this.settled, longestMs);
  }

  private pending(): Promise<void> {
    return new Promise((resolve) => (this.release = resolve));
  }
}
