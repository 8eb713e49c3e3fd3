import type { StreamState } from './transport.js';
import { ListenerSet } from '../../lib/listeners/listener-set.js';

/** A server may offer the stream and say nothing on it, not even that it is open. */
const OPEN_TIMEOUT_MS = 1000;

/** Whether what a server says unasked is heard. It is not while the stream for it is on its way, or broken. */
export class NotificationStreamState {
  /** Settles with the first stream, or when waiting for it has taken long enough. */
  readonly opened: Promise<void>;
  private resolveOpened!: () => void;
  private isSettled = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly listeners = new ListenerSet();

  constructor() {
    this.opened = new Promise((resolve) => (this.resolveOpened = resolve));
  }

  /** Without a stream of its own, a link hears everything from the beginning. */
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
