import { Backoff, type BackoffLimits } from '../lib/backoff/backoff.js';

const PAUSES: BackoffLimits = { firstMs: 5000, longestMs: 300_000 };

interface Trouble {
  readonly backoff: Backoff;
  timer: NodeJS.Timeout | undefined;
}

/** Tries again what a server did not take, less and less often as long as it takes nothing over the same link. */
export class Retries {
  private readonly troubles = new Map<string, Trouble>();

  constructor(
    private readonly retry: (server: string) => void,
    private readonly pauses = PAUSES,
  ) {}

  /** One attempt serves whatever failed before it. */
  plan(server: string): void {
    const trouble = this.troubles.get(server) ?? { backoff: new Backoff(this.pauses), timer: undefined };
    this.troubles.set(server, trouble);
    trouble.timer ??= setTimeout(() => {
      trouble.timer = undefined;
      this.retry(server);
    }, trouble.backoff.next()).unref();
  }

  /** The server took something. What is still planned stays so. */
  worked(server: string): void {
    if (this.troubles.get(server)?.timer === undefined) this.troubles.delete(server);
  }

  forget(server: string): void {
    clearTimeout(this.troubles.get(server)?.timer);
    this.troubles.delete(server);
  }

  stop(): void {
    for (const server of this.troubles.keys()) this.forget(server);
  }
}
