import { within } from './within.js';

/** Something that is up in the air at first, and then, once and for all, is not. */
export class Settling {
  done!: () => void;
  private readonly settled = new Promise<void>((resolve) => (this.done = resolve));

  /** Resolves when it has settled, or after so long. */
  async within(longestMs: number): Promise<void> {
    await within(this.settled, longestMs);
  }
}
