import type { Link } from '../link/link.js';

/** After this many timeouts in a row, a server is taken to hang. */
const TIMEOUTS_IN_A_ROW = 3;
const PROBE_EVERY_MS = 1000;
const PROBE_TIMEOUT_MS = 5000;

/**
 * Whether a server still answers. One that hangs is left alone: calls fail at once instead of each waiting for
 * its own timeout, while pings find out when it is back.
 */
export class Responsiveness {
  private timeouts = 0;
  private probe: NodeJS.Timeout | undefined;
  hangs = false;

  constructor(private readonly onChange: (hangs: boolean) => void) {}

  answered(): void {
    const hung = this.hangs;
    this.reset();
    if (hung) this.onChange(false);
  }

  timedOut(link: Link): void {
    if (++this.timeouts < TIMEOUTS_IN_A_ROW || this.hangs) return;
    this.hangs = true;
    this.onChange(true);
    this.scheduleProbe(link);
  }

  /** The link is gone, and what it did with it. That says nothing of the next one. */
  reset(): void {
    clearTimeout(this.probe);
    this.timeouts = 0;
    this.hangs = false;
  }

  private scheduleProbe(link: Link): void {
    clearTimeout(this.probe);
    this.probe = setTimeout(() => {
      link.request({ method: 'ping', timeoutMs: PROBE_TIMEOUT_MS }).then(
        () => this.answered(),
        () => this.hangs && this.scheduleProbe(link),
      );
    }, PROBE_EVERY_MS).unref();
  }
}
