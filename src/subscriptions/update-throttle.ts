/** Maximum number of open windows. While this many are open, updates with other keys are not throttled. */
const MAX_WINDOWS = 10_000;

/** The time after a published update in which further updates with the same key are not published at once. */
interface Window<U> {
  /** The latest update that waits for the end of the window; undefined if none waits. */
  latest: U | undefined;
}

/**
 * Limits how often updates with the same key are published. The first update is published at once and opens a window.
 * Of the updates that follow before the window ends, only the latest is published, when the window ends.
 */
export class UpdateThrottle<U> {
  private readonly windows = new Map<string, Window<U>>();

  constructor(private readonly publish: (update: U) => void) {}

  /** Returns false if the update replaces an earlier one that waited for the end of the window. */
  submit(key: string, windowMs: number, update: U): boolean {
    if (windowMs === 0 && this.windows.size === 0) {
      this.publish(update);
      return true;
    }
    const window = this.windows.get(key);
    if (window) {
      const isFirst = window.latest === undefined;
      window.latest = update;
      return isFirst;
    }
    if (windowMs > 0 && this.windows.size < MAX_WINDOWS) this.open(key, windowMs);
    this.publish(update);
    return true;
  }

  /** Drops the update with this key that waits for the end of its window. Returns false if there was none. */
  drop(key: string): boolean {
    const window = this.windows.get(key);
    if (window?.latest === undefined) return false;
    window.latest = undefined;
    return true;
  }

  private open(key: string, windowMs: number): void {
    const window: Window<U> = { latest: undefined };
    this.windows.set(key, window);
    setTimeout(() => {
      this.windows.delete(key);
      if (window.latest !== undefined) this.submit(key, windowMs, window.latest);
    }, windowMs).unref();
  }
}
