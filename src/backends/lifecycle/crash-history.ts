const LOOP_ENDS = 5;
const LOOP_WINDOW_MS = 60_000;

/**
 * Remembers how often a link ended: five times within a minute is a loop and not bad luck. A loop lasts until a link
 * held; the ends themselves cannot tell, because attempts are far apart in it.
 */
export class CrashHistory {
  private ends: number[] = [];
  isLoop = false;

  constructor(private readonly now: () => number = () => performance.now()) {}

  record(): void {
    const now = this.now();
    this.ends = [...this.ends.slice(1 - LOOP_ENDS), now];
    const [first = now] = this.ends;
    if (this.ends.length === LOOP_ENDS && now - first < LOOP_WINDOW_MS) this.isLoop = true;
  }

  /** A link lived long enough to end the loop there was. Outside of one, its end counts like any other. */
  held(): void {
    if (this.isLoop) this.forget();
  }

  forget(): void {
    this.ends = [];
    this.isLoop = false;
  }
}
