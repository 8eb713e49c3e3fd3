/**
 * Settles like the promise, or rejects with `timeoutError()` if the promise is pending after `ms`. Leaves no timer behind.
 */
export function withTimeout<T>(promise: Promise<T>, ms: number, timeoutError: () => Error): Promise<T> {
  return raceTimeout(promise, ms, () => {
    throw timeoutError();
  });
}

/**
 * Resolves with true when the promise is fulfilled within `ms`, and with false if the promise is pending after `ms`.
 * Rejects when the promise is rejected within `ms`.
 */
export function completesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const completed = promise.then(() => true);
  return raceTimeout(completed, ms, () => false);
}

async function raceTimeout<T>(promise: Promise<T>, ms: number, onTimeout: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    return await Promise.race([promise, timeout.then(onTimeout)]);
  } finally {
    clearTimeout(timer);
  }
}
