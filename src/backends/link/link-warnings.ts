import { Logger } from '@nestjs/common';

/** Of warnings with the same message, the first ones are all logged, and later ones at most once per interval. */
const INITIAL_WARNINGS = 3;
const WARNING_INTERVAL_MS = 10_000;

interface WarningCounts {
  logged: number;
  /** Warnings since the last one that was logged. */
  suppressed: number;
  lastLoggedAt: number;
}

/** Logs what a server does wrong on one link, with a rate limit for each message. */
export class LinkWarnings {
  private readonly logger = new Logger('Backend');
  private readonly counts = new Map<string, WarningCounts>();

  constructor(
    private readonly server: string,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** `message` is one of a fixed set of texts; `cause` says more about this occurrence. */
  add(message: string, cause?: string): void {
    const counts = this.counts.get(message) ?? { logged: 0, suppressed: 0, lastLoggedAt: 0 };
    if (counts.logged >= INITIAL_WARNINGS && this.now() - counts.lastLoggedAt < WARNING_INTERVAL_MS) {
      counts.suppressed++;
      return;
    }
    const { suppressed } = counts;
    this.counts.set(message, { logged: counts.logged + 1, suppressed: 0, lastLoggedAt: this.now() });
    this.logger.warn({
      message,
      server: this.server,
      ...(cause !== undefined && { cause }),
      ...(suppressed > 0 && { suppressed }),
    });
  }
}
