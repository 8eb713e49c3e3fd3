/** Brings derived state up to date with its source. Concurrent callers share one run of `update`. */
export class SingleFlight {
  private running: Promise<void> | undefined;

  constructor(
    private readonly isUpToDate: () => boolean,
    private readonly update: () => Promise<void>,
  ) {}

  /** Resolves when the state is up to date, including changes made while an update ran. */
  async bringUpToDate(): Promise<void> {
    while (!this.isUpToDate()) await (this.running ??= this.runOnce());
  }

  private async runOnce(): Promise<void> {
    try {
      await this.update();
    } finally {
      this.running = undefined;
    }
  }
}
