import type { StreamState } from './transport.js';
import { ListenerSet } from '../../lib/listeners/listener-set.js';

/** Some servers accept the request for the stream and send no response headers. */
const OPEN_TIMEOUT_MS = 1000;

/** Reports when the notification stream of a link is open, and when notifications may have been lost. */
export class NotificationStreamState {
  /** Resolves when the stream is open for the first time, is not offered, or takes too long. */
  readonly opened: Promise<void>;
  private resolveOpened!: () => void;
  private isSettled = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly listeners = new ListenerSet();

  constructor() {
    this.opened = new Promise((resolve) => (this.resolveOpened = resolve));
  }

  /** A link without a separate stream receives all notifications from the beginning. */
  expect(hasStream: boolean): void {
    if (!hasStream) this.settle();
    else this.timer = setTimeout(() => this.settle(), OPEN_TIMEOUT_MS).unref();
  }

  onGap(listener: () => void): void {
    this.listeners.add(listener);
  }

  update(state: StreamState): void {
    if (state === 'none') this.settle();
    if (state !== 'open') return;
    if (this.isSettled) this.listeners.emit();
    this.settle();
  }

  private settle(): void {
    clearTimeout(this.timer);
    this.isSettled = true;
    this.resolveOpened();
  }
}
