import { backoffDelay, type BackoffLimits } from '../../lib/backoff/backoff.js';

/** What a failed attempt costs decides how soon the next one follows: a process is started, or an HTTP request is sent. */
export type ServerKind = 'process' | 'http';

/** From a failure to the next attempt, in milliseconds. */
export interface RetryDelays {
  readonly idleMs: number;
  /** While calls arrive. */
  readonly calledMs: number;
}

/** The start of a process costs up to a second of CPU time. With little jitter, because few starts run at once anyway. */
const PROCESS_LIMITS: BackoffLimits = { firstMs: 500, maxMs: 300_000, jitter: 0.1 };
const MIN_CRASH_LOOP_MS = 30_000;
const IDLE_HTTP_LIMITS: BackoffLimits = { firstMs: 500, maxMs: 60_000 };
const CALLED_HTTP_LIMITS: BackoffLimits = { firstMs: 500, maxMs: 5000 };

/** `random` is between 0 and 1. Calls do not restart a process earlier: every call would start one that crashes again. */
export function retryDelays(
  kind: ServerKind,
  retries: number,
  random: number,
  isCrashLoop: boolean,
): RetryDelays {
  if (kind === 'http')
    return {
      idleMs: backoffDelay(retries, random, IDLE_HTTP_LIMITS),
      calledMs: backoffDelay(retries, random, CALLED_HTTP_LIMITS),
    };
  const delayMs = backoffDelay(retries, random, PROCESS_LIMITS);
  const idleMs = isCrashLoop ? Math.max(delayMs, MIN_CRASH_LOOP_MS) : delayMs;
  return { idleMs, calledMs: idleMs };
}
