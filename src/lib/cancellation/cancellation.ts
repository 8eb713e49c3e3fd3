/** The part of AbortSignal that is used on the way of a request. Any AbortSignal is one. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

const NOBODY: readonly (() => void)[] = [];

/** Says once that something is no longer wanted. Node's own AbortController costs a request seven microseconds. */
export class Cancellation implements CancelSignal {
  private listeners: readonly (() => void)[] = NOBODY;
  aborted = false;

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    const { listeners } = this;
    this.listeners = NOBODY;
    for (const listener of listeners) listener();
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.aborted || this.listeners.includes(listener)) return;
    this.listeners = [...this.listeners, listener];
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.listeners = this.listeners.filter((other) => other !== listener);
  }
}
