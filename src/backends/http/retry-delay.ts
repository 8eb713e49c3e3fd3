/** What `setTimeout` can count. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** A server that asks us to come back at once would have us call it in a loop. */
const SHORTEST_RETRY_MS = 50;

/** The server's `retry`, as far as it can be obeyed. */
export const retryDelay = (retryMs: number): number =>
  Math.min(Math.max(retryMs, SHORTEST_RETRY_MS), LONGEST_TIMER_MS);
