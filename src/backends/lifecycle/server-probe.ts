import type { Link } from '../link/link.js';

interface ServerProbeEvents {
  /** A message of the server has arrived. Probing has ended. */
  answered(link: Link): void;
  /** The server did not answer a probe in time. Probing continues. */
  unanswered(link: Link): void;
}

/** Time from the timeout of a probe to the next probe. */
const PROBE_INTERVAL_MS = 1000;

/**
 * Probes a server after a request to it has timed out, until a message of the server arrives. The first probe is sent without a
 * delay: if only one tool is slow, the server answers the probe and stays available for other calls.
 */
export class ServerProbe {
  private timer: NodeJS.Timeout | undefined;
  /** The link that is probed. */
  private link: Link | undefined;

  constructor(private readonly events: ServerProbeEvents) {}

  /** Starts to probe a link. Does nothing if this link is being probed already. */
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

  /** `initialReceived` is the number of received messages when probing began. Any later message counts as an answer. */
  private async probe(link: Link, timeoutMs: number, initialReceived: number): Promise<void> {
    if (link.received === initialReceived) await link.probe(timeoutMs);
    if (this.link !== link) return;
    if (link.received !== initialReceived) {
      this.stop();
      this.events.answered(link);
      return;
    }
    this.events.unanswered(link);
    clearTimeout(this.timer);
    const probeAgain = (): void => void this.probe(link, timeoutMs, initialReceived);
    this.timer = setTimeout(probeAgain, PROBE_INTERVAL_MS).unref();
  }
}
