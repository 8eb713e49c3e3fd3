import type { Link } from '../link/link.js';

interface ServerProbeEvents {
  answered(link: Link): void;
  unanswered(link: Link): void;
}

/** How long after an unanswered probe the next one is sent. */
const PROBE_INTERVAL_MS = 1000;

/**
 * Probes a server whose requests time out, until a message of the server arrives. The first probe is sent at once: a server
 * with one slow tool answers the probe, and stays available for other calls.
 */
export class ServerProbe {
  private timer: NodeJS.Timeout | undefined;
  /** The link that is probed. */
  private link: Link | undefined;

  constructor(private readonly events: ServerProbeEvents) {}

  /** Does nothing while the link is being probed. */
  start(link: Link, timeoutMs: number): void {
    if (this.link === link) return;
    this.stop();
    this.link = link;
    void this.probe(link, timeoutMs, link.received);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.link = undefined;
  }

  /** `before` is the number of received messages when probing began. Any later message counts as an answer. */
  private async probe(link: Link, timeoutMs: number, before: number): Promise<void> {
    if (link.received === before) await link.probe(timeoutMs);
    if (this.link !== link) return;
    if (link.received !== before) {
      this.stop();
      this.events.answered(link);
      return;
    }
    this.events.unanswered(link);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.probe(link, timeoutMs, before), PROBE_INTERVAL_MS).unref();
  }
}
