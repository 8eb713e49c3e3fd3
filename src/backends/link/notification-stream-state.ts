import type { NotificationStreamStatus } from './link.js';
import type { StreamState } from './transport.js';
import { ListenerSet } from '../../lib/listeners/listener-set.js';

/** How long a link waits until its stream is open: some servers accept the GET and never send response headers. */
const OPEN_TIMEOUT_MS = 1000;

/** The status of the notification stream of a link. Reports when notifications may have been lost (a gap). */
export class NotificationStreamState {
  /** Resolves when the stream is open for the first time, is not offered by the server, or takes too long to open. */
  readonly ready: Promise<void>;
  private resolveReady!: () => void;
  status: NotificationStreamStatus = 'opening';
  private isReady = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly listeners = new ListenerSet();
  private check: (() => Promise<boolean>) | undefined;

  constructor() {
    this.ready = new Promise((resolve) => (this.resolveReady = resolve));
  }

  /**
   * To be called if the transport has no separate notification stream, because notifications and responses come on one stream.
   */
  markShared(): void {
    this.status = 'open';
    this.markReady();
  }

  /** To be called when the stream is requested. Limits the time until `ready` resolves. */
  startTimeout(): void {
    this.timer = setTimeout(() => this.markReady(), OPEN_TIMEOUT_MS).unref();
  }

  /** Resolves `ready`. */
  markReady(): void {
    clearTimeout(this.timer);
    this.isReady = true;
    this.resolveReady();
  }

  /** Calls the listener after each gap. */
  onGap(listener: () => void): void {
    this.listeners.add(listener);
  }

  /**
   * Sets a check that runs at each gap of the stream. If the server no longer offers the stream, the gap is reported after the
   * check, and only if the check resolves with true.
   */
  checkGaps(check: () => Promise<boolean>): void {
    this.check = check;
  }

  /** To be called when notifications may have been lost. */
  reportGap(): void {
    this.listeners.emit();
  }

  /** To be called when the state of the stream has changed. */
  update(state: StreamState): void {
    const wasOffered = this.status === 'open' || this.status === 'lost';
    if (state === 'open' || state === 'resumed') this.status = 'open';
    else if (state !== 'silent') this.status = state;
    // A server that no longer offers the stream may be another version, with other lists. A gap makes the gateway fetch them.
    const isGap = this.isReady && (state === 'open' || (state === 'none' && wasOffered));
    if (isGap) void this.streamInterrupted(state === 'open');
    if (state === 'open' || state === 'none') this.markReady();
  }

  /**
   * If the stream is open, the gap is reported before the notifications that follow on it. If the server no longer offers the
   * stream, no notifications follow, and the result of the check decides whether the gap is reported.
   */
  private async streamInterrupted(isOpen: boolean): Promise<void> {
    if (isOpen) this.reportGap();
    const isLinkInUse = await (this.check?.() ?? true);
    if (!isOpen && isLinkInUse) this.reportGap();
  }
}
