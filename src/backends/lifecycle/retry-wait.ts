/** Waits for the next attempt. The delay may be shortened or ended meanwhile. */
export class RetryWait {
  private wake: (() => void) | undefined;

  /** Waits for the delay, which begins now. The delay is read again after every `recheck`. */
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
