/** Maximum open windows; beyond it updates are not throttled. */
const MAX_WINDOWS = 10_000;

interface Window<U> {
  /** To be published when the window ends. */
  latest: U | undefined;
}

/**
 * Publishes the first update under a key at once. Of the updates that follow within the window, publishes the latest at its
 * end.
 */
export class UpdateThrottle<U> {
  private readonly windows = new Map<string, Window<U>>();

  constructor(private readonly publish: (update: U) => void) {}

  /** False when the update replaces an earlier one that waited for the end of the window. */
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

  /** Drops the update that waits under the key. True when there was one. */
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
