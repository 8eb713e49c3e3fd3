/** Asks a server that has been silent whether it is there. Whatever it says is an answer. */
export class Heartbeat {
  private timer: NodeJS.Timeout | undefined;
  private wasHeard = true;
  private isAsking = false;

  constructor(
    private readonly everyMs: number,
    private readonly ask: () => Promise<void>,
    private readonly gone: (error: Error) => void,
  ) {}

  start(): void {
    this.timer = setInterval(() => this.beat(), this.everyMs).unref();
  }

  hear(): void {
    this.wasHeard = true;
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private beat(): void {
    const { wasHeard } = this;
    this.wasHeard = false;
    if (wasHeard || this.isAsking) return;
    this.isAsking = true;
    this.ask()
      .catch((error: Error) => this.wasHeard || this.gone(error))
      .finally(() => (this.isAsking = false));
  }
}
