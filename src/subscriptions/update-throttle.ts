/** Maximum open windows. While so many are open, updates under other keys are not throttled. */
const MAX_WINDOWS = 10_000;

interface Window<U> {
  /** The latest update that waits for the end of the window; undefined if none waits. */
  latest: U | undefined;
}

/**
 * Publishes the first update under a key at once. Of the updates that follow within the window, publishes the latest at its
 * end.
 */
export class UpdateThrottle<U> {
  private readonly windows = new Map<string, Window<U>>();

  constructor(private readonly publish: (update: U) => void) {}

  /** Returns false when the update replaces an earlier one that waited for the end of the window. */
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

  /** Drops the update that waits under the key. Returns false when there was none. */
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
