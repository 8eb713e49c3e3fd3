/** Runs all pending promise callbacks and one iteration of the event loop. */
export const flushPromises = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The value or error of a promise; empty while it is pending. */
export interface Outcome<T> {
  value?: T;
  error?: Error;
}

/** Observes a promise that may never settle. */
export function outcomeOf<T>(promise: Promise<T>): Outcome<T> {
  const outcome: Outcome<T> = {};
  promise.then(
    (value) => (outcome.value = value),
    (error: Error) => (outcome.error = error),
  );
  return outcome;
}

/** The error that a promise rejects with; fails when it resolves. */
export const refusalOf = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => {
      throw new Error('the promise did not reject');
    },
    (error: Error) => error,
  );
