import type { NotificationStreamStatus } from './link.js';
import type { StreamState } from './transport.js';
import { ListenerSet } from '../../lib/listeners/listener-set.js';

/** Some servers accept the GET for the stream and never send response headers. */
const OPEN_TIMEOUT_MS = 1000;

/** Reports when the notification stream of a link is open, and when notifications may have been lost. */
export class NotificationStreamState {
  /** Resolves when the stream is open for the first time, is not offered by the server, or takes too long to open. */
  readonly ready: Promise<void>;
  private resolveReady!: () => void;
  status: NotificationStreamStatus = 'opening';
  private isReady = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly listeners = new ListenerSet();

  constructor() {
    this.ready = new Promise((resolve) => (this.resolveReady = resolve));
  }

  /**
   * To be called when the transport has no separate notification stream: notifications come on the same stream as
   * responses.
   */
  markShared(): void {
    this.status = 'open';
    this.markReady();
  }

  /** To be called when the stream is requested. Limits the time until `ready` resolves. */
  startTimeout(): void {
    this.timer = setTimeout(() => this.markReady(), OPEN_TIMEOUT_MS).unref();
  }

  markReady(): void {
    clearTimeout(this.timer);
    this.isReady = true;
    this.resolveReady();
  }

  onGap(listener: () => void): void {
    this.listeners.add(listener);
  }

  /** To be called when notifications may have been lost. */
  reportGap(): void {
    this.listeners.emit();
  }

  update(state: StreamState): void {
    const wasOpen = this.status === 'open' || this.status === 'lost';
    if (state === 'open' || state === 'resumed') this.status = 'open';
    else if (state !== 'silent') this.status = state;
    // A server that offers the stream no more may be another one than before.
    const isGap = this.isReady && (state === 'open' || (state === 'none' && wasOpen));
    if (isGap) this.reportGap();
    if (state === 'open' || state === 'none') this.markReady();
  }
}
