/** Brings derived state up to date with its source. Concurrent callers share one run of `update`. */
export class SingleFlight {
  private running: Promise<void> | undefined;

  constructor(
    private readonly isUpToDate: () => boolean,
    private readonly update: () => Promise<void>,
  ) {}

  /** Resolves when the state is up to date. If the source changes during an update, another update follows. */
  async bringUpToDate(): Promise<void> {
    while (!this.isUpToDate()) {
      this.running ??= this.runOnce();
      await this.running;
    }
  }

  private async runOnce(): Promise<void> {
    try {
      await this.update();
    } finally {
      this.running = undefined;
    }
  }
}
