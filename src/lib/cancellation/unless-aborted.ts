import type { CancelSignal } from './cancellation.js';

/**
 * Settles like the promise, or rejects with `abortError()` if the signal aborts first. Leaves no listener on the signal.
 */
export async function unlessAborted<T>(
  signal: CancelSignal,
  promise: Promise<T>,
  abortError: () => Error,
): Promise<T> {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(abortError());
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort!);
  }
}
