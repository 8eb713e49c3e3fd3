/** Open windows at once; beyond that updates pass as they come. */
const MOST_WINDOWS = 10_000;

interface Window<U> {
  latest: U | undefined;
}

/** Makes many updates of one resource few: the first passes at once, the last of those after it when the window ends. */
export class UpdateWindows<U> {
  private readonly windows = new Map<string, Window<U>>();

  constructor(private readonly publish: (update: U) => void) {}

  /** False when a later update takes the place of one that waited. */
  pass(key: string, windowMs: number, update: U): boolean {
    if (windowMs === 0 && this.windows.size === 0) {
      this.publish(update);
      return true;
    }
    const window = this.windows.get(key);
    if (window) {
      const replaces = window.latest !== undefined;
      window.latest = update;
      return !replaces;
    }
    if (windowMs > 0 && this.windows.size < MOST_WINDOWS) this.open(key, windowMs);
    this.publish(update);
    return true;
  }

  /** What waits is not to come any more. True when something did wait. */
  drop(key: string): boolean {
    const window = this.windows.get(key);
    const waited = window?.latest !== undefined;
    if (window) window.latest = undefined;
    return waited;
  }

  private open(key: string, windowMs: number): void {
    const window: Window<U> = { latest: undefined };
    this.windows.set(key, window);
    setTimeout(() => {
      this.windows.delete(key);
      if (window.latest !== undefined) this.pass(key, windowMs, window.latest);
    }, windowMs).unref();
  }
}
