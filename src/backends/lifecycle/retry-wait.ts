/** Waits for the next attempt. The delay may change during the wait. */
export class RetryWait {
  private wake: (() => void) | undefined;

  /** Resolves when `delayMs` have passed since `until` was called. The delay is read again after every `recheck`. */
  async until(delayMs: () => number): Promise<void> {
    const startedAt = performance.now();
    for (;;) {
      const remainingMs = delayMs() - (performance.now() - startedAt);
      if (remainingMs <= 0) return;
      await this.sleep(remainingMs);
    }
  }

  /** To be called when the delay has changed. */
  recheck(): void {
    this.wake?.();
  }

  private async sleep(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
      timer = setTimeout(resolve, ms).unref();
    });
    clearTimeout(timer);
    this.wake = undefined;
  }
}
