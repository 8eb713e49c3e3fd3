/** Open windows at once; beyond that updates pass as they come. */
const MOST_WINDOWS = 10_000;

interface Window {
  latest: (() => void) | undefined;
}

/** Makes many updates of one resource few: the first passes at once, the last of those after it when the window ends. */
export class UpdateWindows {
  private readonly windows = new Map<string, Window>();

  /** False when a later update takes the place of one that waited. */
  pass(key: string, windowMs: number, publish: () => void): boolean {
    if (windowMs === 0 && this.windows.size === 0) {
      publish();
      return true;
    }
    const window = this.windows.get(key);
    if (window) {
      const replaces = window.latest !== undefined;
      window.latest = publish;
      return !replaces;
    }
    if (windowMs > 0 && this.windows.size < MOST_WINDOWS) this.open(key, windowMs);
    publish();
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
    const window: Window = { latest: undefined };
    this.windows.set(key, window);
    setTimeout(() => {
      this.windows.delete(key);
      if (window.latest) this.pass(key, windowMs, window.latest);
    }, windowMs).unref();
  }
}
