import { backoffDelay, type BackoffLimits } from '../../lib/backoff/backoff.js';

/**
 * What an attempt to connect does: it starts a process, or it sends an HTTP request. An HTTP request costs less and is repeated
 * sooner.
 */
export type ServerKind = 'process' | 'http';

/** Time from a failure to the next attempt, in milliseconds. */
export interface RetryDelays {
  /** The delay if no call arrives meanwhile. */
  readonly idleMs: number;
  /** The delay if a call arrives meanwhile. */
  readonly calledMs: number;
}

/**
 * The maximum is long, because the start of a process costs up to a second of CPU time. The jitter is small, because
 * `StartSlots` limits how many processes start at the same time.
 */
const PROCESS_LIMITS: BackoffLimits = { firstMs: 500, maxMs: 300_000, jitter: 0.1 };
/** The shortest delay in a crash loop. */
const MIN_CRASH_LOOP_MS = 30_000;
const IDLE_HTTP_LIMITS: BackoffLimits = { firstMs: 500, maxMs: 60_000 };
const CALLED_HTTP_LIMITS: BackoffLimits = { firstMs: 500, maxMs: 5000 };
/**
 * For this many retries, an unreachable HTTP server gets the delays of a called server, even if no call arrives: the server is
 * probably being deployed, and clients expect its new tools soon after. These retries take about four minutes in total. The
 * count begins with the start of the gateway, or with the loss of a stable link.
 */
const DEPLOY_RETRIES = 60;

/** What the delays before an attempt depend on. */
interface RetryInput {
  readonly kind: ServerKind;
  /** The exponent of the backoff. */
  readonly retries: number;
  /** Between 0 and 1, for the jitter. */
  readonly random: number;
  readonly isCrashLoop: boolean;
  /** The last attempt, or the last link, failed with cause `unreachable`. */
  readonly isUnreachable: boolean;
}

/**
 * A call does not shorten the delay before a process is started: otherwise, every call to a server whose process crashes would
 * start that process again.
 */
export function retryDelays({ kind, retries, random, isCrashLoop, isUnreachable }: RetryInput): RetryDelays {
  if (kind === 'http') {
    const calledMs = backoffDelay(retries, random, CALLED_HTTP_LIMITS);
    const mayBeDeployed = isUnreachable && retries < DEPLOY_RETRIES;
    return { idleMs: mayBeDeployed ? calledMs : backoffDelay(retries, random, IDLE_HTTP_LIMITS), calledMs };
  }
  const delayMs = backoffDelay(retries, random, PROCESS_LIMITS);
  const idleMs = isCrashLoop ? Math.max(delayMs, MIN_CRASH_LOOP_MS) : delayMs;
  return { idleMs, calledMs: idleMs };
}
