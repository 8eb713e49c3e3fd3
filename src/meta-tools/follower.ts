/** Brings something in step with what changes, in one run at a time however many wait for it. */
export class Follower {
  private running: Promise<void> | undefined;

  constructor(
    private readonly isInStep: () => boolean,
    private readonly run: () => Promise<void>,
  ) {}

  /** Resolves when it is in step, also with what changed while it waited. */
  async follow(): Promise<void> {
    while (!this.isInStep()) await (this.running ??= this.runOnce());
  }

  private async runOnce(): Promise<void> {
    try {
      await this.run();
    } finally {
      this.running = undefined;
    }
  }
}
