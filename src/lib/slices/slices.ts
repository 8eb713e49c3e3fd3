import type { Pause } from './sliced-sort.js';

/** What one slice of long work may take before others get their turn. */
const SLICE_MS = 8;

/**
 * Lets long work on big lists give way. There is one event loop, so there is one of these: however many lists are
 * being worked on, only one slice runs before requests get their turn again.
 */
class Turns {
  private readonly waiting: (() => void)[] = [];

  /** For one piece of work. */
  pause(): Pause {
    let startedAt = performance.now();
    return () => {
      if (performance.now() - startedAt < SLICE_MS) return undefined;
      return this.next().then(() => {
        startedAt = performance.now();
      });
    };
  }

  private next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.waiting.push(resolve) === 1) setImmediate(this.run);
    });
  }

  private readonly run = (): void => {
    this.waiting.shift()!();
    if (this.waiting.length > 0) setImmediate(this.run);
  };
}

export const turns = new Turns();
