import { failureCauseOf } from '../link/failure-cause.js';
import { isSessionExpired } from '../link/link-errors.js';
import { retryDelays, type RetryDelays, type ServerKind } from './retry-delays.js';

/**
 * The state of the connection to one server.
 * - `connecting`: a link is being opened
 * - `ready`: the link is open and the server answers
 * - `unresponsive`: the link is open, but no message of the server arrives; calls fail at once until one arrives
 * - `retrying`: the link was lost or could not be opened; the next attempt follows after the backoff delay
 * - `crash-loop`: a process has failed five times within a minute and had no stable link since; attempts follow at long
 *   intervals
 * - `stopped`: not started, disabled or shutting down
 */
export type ConnectionState = 'connecting' | 'ready' | 'unresponsive' | 'retrying' | 'crash-loop' | 'stopped';

/** The connection of one server at one moment. Times are milliseconds since the epoch. */
export interface ConnectionStatus {
  readonly state: ConnectionState;
  readonly kind: ServerKind;
  /** The error for which the server cannot be used; while connecting, the error of the previous link or attempt. */
  readonly error: Error | undefined;
  /** When the state was entered. */
  readonly since: number;
  /** When the first failure since the last ready state occurred; undefined if there is none. */
  readonly downSince: number | undefined;
  /** Attempts since the last ready state, the current one included. */
  readonly attempts: number;
  /** Failed attempts and lost links since the last stable link. This number is the exponent of the backoff. */
  readonly retries: number;
  /** When the next attempt begins; equal to `since` if without delay. Defined only in `retrying` and `crash-loop`. */
  readonly nextAttemptAt: number | undefined;
  /** When the next attempt begins if a call arrives. Defined together with `nextAttemptAt`. */
  readonly attemptAtIfCalled: number | undefined;
  /** When the current link was opened. */
  readonly openedAt: number | undefined;
  /** Requests over the current link that timed out while no message of the server arrived. */
  readonly timeouts: number;
  /** Probes that were not answered since the first of the requests that `timeouts` counts. */
  readonly unansweredProbes: number;
  /** Times of the latest lost links and failed attempts, at most `OFTEN_FAILURES`. */
  readonly failures: readonly number[];
  /**
   * Whether `OFTEN_FAILURES` failures occurred within `OFTEN_WINDOW_MS`. Stays true until a stable link is lost, or an
   * administrator requests a reconnect.
   */
  readonly isFailingOften: boolean;
}

/**
 * An event that may change the status.
 * - `connect`: an attempt to open a link begins
 * - `opened`: the attempt succeeded
 * - `failed`: the attempt failed
 * - `lost`: the link closed
 * - `timed-out`: a request over the current link timed out, and no message of the server arrived meanwhile
 * - `probe-unanswered`: a probe of the server was not answered
 * - `answered`: a message of the server arrived
 * - `called`: a call was refused because there is no link
 * - `reconnect`: an administrator requested a new link; earlier failures do not count any more
 * - `stop`: the server was disabled, or the gateway shuts down
 */
export type ConnectionEvent =
  | {
      readonly type:
        | 'connect'
        | 'opened'
        | 'timed-out'
        | 'probe-unanswered'
        | 'answered'
        | 'called'
        | 'reconnect'
        | 'stop';
    }
  | { readonly type: 'failed' | 'lost'; readonly error: Error };

/** What a transition depends on besides the status and the event. */
interface TransitionInput {
  readonly now: number;
  /** Between 0 and 1, for the jitter of the backoff. */
  readonly random: number;
}

type Transition = (
  status: ConnectionStatus,
  input: TransitionInput,
  error: Error | undefined,
) => ConnectionStatus;

/** Timeouts before a server counts as unresponsive. */
const UNRESPONSIVE_TIMEOUTS = 3;
/**
 * Unanswered probes before a server counts as unresponsive. A server of which only one tool is slow answers the probe, and
 * therefore does not count as unresponsive.
 */
const UNRESPONSIVE_PROBES = 1;
/** A server fails often if this many failures occur within the window. If it is a process, that is a crash loop. */
const OFTEN_FAILURES = 5;
const OFTEN_WINDOW_MS = 60_000;
/** A link that was open for longer is stable. When a stable link is lost, the backoff begins anew. */
const MIN_STABLE_MS = 10_000;
const NO_DELAY: RetryDelays = { idleMs: 0, calledMs: 0 };

export const initialStatus = (now: number, kind: ServerKind): ConnectionStatus => ({
  state: 'stopped',
  kind,
  error: undefined,
  since: now,
  downSince: undefined,
  attempts: 0,
  retries: 0,
  nextAttemptAt: undefined,
  attemptAtIfCalled: undefined,
  openedAt: undefined,
  timeouts: 0,
  unansweredProbes: 0,
  failures: [],
  isFailingOften: false,
});

const connect: Transition = (status, { now }) => ({
  ...status,
  state: 'connecting',
  since: now,
  attempts: status.attempts + 1,
  nextAttemptAt: undefined,
  attemptAtIfCalled: undefined,
});

const open: Transition = (status, { now }) => ({
  ...status,
  state: 'ready',
  error: undefined,
  since: now,
  downSince: undefined,
  attempts: 0,
  openedAt: now,
  timeouts: 0,
  unansweredProbes: 0,
});

const retry: Transition = (status, { now, random }, error) => {
  const { kind } = status;
  const { retries, failures, isFailingOften: wasFailingOften } = resetIfStable(status, now);
  const latestFailures = [...failures, now].slice(-OFTEN_FAILURES);
  const isFailingOften = wasFailingOften || areFrequent(latestFailures, now);
  // A server that has ended the session of the link is reachable. Only the session must be initialized again.
  const isImmediate = isSessionExpired(error) && !isFailingOften;
  const isCrashLoop = isFailingOften && kind === 'process';
  const isUnreachable = failureCauseOf(error) === 'unreachable';
  const { idleMs, calledMs } = isImmediate
    ? NO_DELAY
    : retryDelays({ kind, retries, random, isCrashLoop, isUnreachable });
  return {
    ...initialStatus(now, kind),
    state: isCrashLoop ? 'crash-loop' : 'retrying',
    error,
    downSince: status.downSince ?? now,
    attempts: status.attempts,
    retries: isImmediate ? retries : retries + 1,
    nextAttemptAt: now + idleMs,
    attemptAtIfCalled: now + calledMs,
    failures: latestFailures,
    isFailingOften,
  };
};

/**
 * Makes the next attempt begin earlier, because a call has arrived. Has an effect only for an HTTP server: for a process,
 * `attemptAtIfCalled` and `nextAttemptAt` are equal.
 */
const attemptEarlier: Transition = (status, { now }) => {
  const { nextAttemptAt = now, attemptAtIfCalled = now } = status;
  const earlierAttemptAt = Math.max(now, attemptAtIfCalled);
  return earlierAttemptAt >= nextAttemptAt ? status : { ...status, nextAttemptAt: earlierAttemptAt };
};

const countTimeout: Transition = (status, { now }) =>
  unresponsiveIfSilent({ ...status, timeouts: status.timeouts + 1 }, now);

const countUnansweredProbe: Transition = (status, { now }) =>
  unresponsiveIfSilent({ ...status, unansweredProbes: status.unansweredProbes + 1 }, now);

const resetTimeoutCounts: Transition = (status) =>
  status.timeouts === 0 && status.unansweredProbes === 0
    ? status
    : { ...status, timeouts: 0, unansweredProbes: 0 };

/** An unresponsive server answers again. */
const recover: Transition = (status, { now }) => ({
  ...status,
  state: 'ready',
  error: undefined,
  since: now,
  downSince: undefined,
  timeouts: 0,
  unansweredProbes: 0,
});

/** From now on, earlier failures do not count. An attempt that is in progress continues. */
const reconnect: Transition = (status, { now }) => ({
  ...initialStatus(status.state === 'connecting' ? status.since : now, status.kind),
  state: 'connecting',
  downSince: status.downSince,
  attempts: 1,
  error: status.state === 'unresponsive' ? undefined : status.error,
});

const stop: Transition = ({ kind }, { now }) => initialStatus(now, kind);

/** All transitions. Any other event leaves the status unchanged. */
const TRANSITIONS: Readonly<
  Record<ConnectionState, { readonly [T in ConnectionEvent['type']]?: Transition }>
> = {
  stopped: { connect },
  connecting: { opened: open, failed: retry, reconnect, stop },
  ready: {
    'timed-out': countTimeout,
    'probe-unanswered': countUnansweredProbe,
    answered: resetTimeoutCounts,
    lost: retry,
    reconnect,
    stop,
  },
  unresponsive: {
    'timed-out': countTimeout,
    'probe-unanswered': countUnansweredProbe,
    answered: recover,
    lost: retry,
    reconnect,
    stop,
  },
  retrying: { connect, called: attemptEarlier, reconnect, stop },
  'crash-loop': { connect, reconnect, stop },
};

/** The status after the event. */
export function transition(
  status: ConnectionStatus,
  event: ConnectionEvent,
  input: TransitionInput,
): ConnectionStatus {
  const apply = TRANSITIONS[status.state][event.type];
  return apply ? apply(status, input, 'error' in event ? event.error : undefined) : status;
}

/**
 * Whether the server has ended the session of the link and the next link is opened without a delay, so that requests can wait
 * for that link.
 */
export const isReinitializing = ({ state, error, since, nextAttemptAt }: ConnectionStatus): boolean =>
  isSessionExpired(error) && (state === 'connecting' || nextAttemptAt === since);

function unresponsiveIfSilent(status: ConnectionStatus, now: number): ConnectionStatus {
  const { state, timeouts, unansweredProbes } = status;
  const isSilent = timeouts >= UNRESPONSIVE_TIMEOUTS && unansweredProbes >= UNRESPONSIVE_PROBES;
  if (state === 'unresponsive' || !isSilent) return status;
  const error = new Error('it does not answer');
  return { ...status, state: 'unresponsive', error, since: now, downSince: status.downSince ?? now };
}

function areFrequent(failures: readonly number[], now: number): boolean {
  const [first = now] = failures;
  return failures.length === OFTEN_FAILURES && now - first < OFTEN_WINDOW_MS;
}

/**
 * The earlier failures that still count when a link is lost. A stable link resets the backoff, and ends a series of frequent
 * failures. If there is no such series, the times of earlier failures are kept: repeated losses of stable links can themselves
 * become frequent failures.
 */
function resetIfStable(
  status: ConnectionStatus,
  now: number,
): Pick<ConnectionStatus, 'retries' | 'failures' | 'isFailingOften'> {
  const { openedAt = now, failures, isFailingOften } = status;
  if (now - openedAt <= MIN_STABLE_MS) return status;
  return { retries: 0, failures: isFailingOften ? [] : failures, isFailingOften: false };
}
