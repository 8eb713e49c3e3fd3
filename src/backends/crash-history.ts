const LOOP_ENDS = 5;
const LOOP_WINDOW_MS = 60_000;

/** Remembers how often a link ended lately: five times within a minute is a loop and not bad luck. */
export class CrashHistory {
  private ends: number[] = [];

  constructor(private readonly now: () => number = () => performance.now()) {}

  record(): void {
    this.ends = [...this.ends.slice(1 - LOOP_ENDS), this.now()];
  }

  get isLoop(): boolean {
    const [first] = this.ends;
    return this.ends.length === LOOP_ENDS && first !== undefined && this.now() - first < LOOP_WINDOW_MS;
  }
}
