/** Maximum open windows; beyond it updates are not throttled. */
const MAX_WINDOWS = 10_000;

interface Window<U> {
  latest: U | undefined;
}

/** Publishes the first update under a key at once, and the latest of those that follow when the window ends. */
export class UpdateThrottle<U> {
  private readonly windows = new Map<string, Window<U>>();

  constructor(private readonly publish: (update: U) => void) {}

  /** False when it replaces an update that waited for the end of the window. */
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
    if (windowMs > 0 && this.windows.size < MAX_WINDOWS) this.open(key, windowMs);
    this.publish(update);
    return true;
  }

  /** Drops the update that waits under the key. True when there was one. */
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
