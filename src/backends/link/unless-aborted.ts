import type { CancelSignal } from '../../lib/cancellation/cancellation.js';
import { cancelledError } from './link-faults.js';

/** The promise, or `cancelled` as soon as the signal aborts. What the promise stands for goes on. */
export async function unlessAborted<T>(signal: CancelSignal, promise: Promise<T>): Promise<T> {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(cancelledError());
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort!);
  }
}
