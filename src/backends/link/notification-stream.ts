import type { StreamState } from './transport.js';

/** A server may offer the stream and say nothing on it, not even that it is open. */
const LONGEST_WAIT_MS = 1000;

/** Whether what a server says unasked is heard. It is not while the stream for it is on its way, or broken. */
export class Hearing {
  /** Settles with the first stream, or when waiting for it has taken long enough. */
  readonly begun: Promise<void>;
  private announceBegun!: () => void;
  private hasBegun = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly listeners: (() => void)[] = [];

  constructor() {
    this.begun = new Promise((resolve) => (this.announceBegun = resolve));
  }

  /** Without a stream of its own, a link hears everything from the beginning. */
  begin(hasStream: boolean): void {
    if (!hasStream) this.settle();
    else this.timer = setTimeout(() => this.settle(), LONGEST_WAIT_MS).unref();
  }

  onGap(listener: () => void): void {
    this.listeners.push(listener);
  }

  changed(state: StreamState): void {
    if (state === 'none') this.settle();
    if (state !== 'open') return;
    if (this.hasBegun) for (const listener of this.listeners) listener();
    this.settle();
  }

  private settle(): void {
    clearTimeout(this.timer);
    this.hasBegun = true;
    this.announceBegun();
  }
}
