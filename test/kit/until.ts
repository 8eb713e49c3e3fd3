/** More than any condition takes on a busy machine, and less than the timeout of a test. */
const DEFAULT_TIMEOUT_MS = 20_000;
const POLL_MS = 10;
/** The interval after the first quarter of a second. Frequent requests would slow the process that the test waits for. */
const LATER_POLL_MS = 30;

/** Polls until the result is not false, null or undefined, and returns it. `what` is in the error of a timeout. */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  timeoutMs = DEFAULT_TIMEOUT_MS,
): Promise<Exclude<T, false | null | undefined>> {
  const startedAt = performance.now();
  for (;;) {
    const result = await condition();
    if (result !== false && result !== null && result !== undefined)
      return result as Exclude<T, false | null | undefined>;
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > timeoutMs) throw new Error(`timed out after ${timeoutMs} ms, waiting until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, waitedMs < 250 ? POLL_MS : LATER_POLL_MS));
  }
}

/** The same promise with a deadline; `what` completes "waiting for …" in the error. */
export function within<T>(what: string, event: Promise<T>, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`timed out after ${timeoutMs} ms, waiting for ${what}`)),
      timeoutMs,
    );
  });
  return Promise.race([event, late]).finally(() => clearTimeout(timer));
}

/** A promise with the function that resolves it. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
}

export function deferred<T = void>(): Deferred<T> {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((resolvePromise) => (resolve = resolvePromise));
  return { promise, resolve };
}
