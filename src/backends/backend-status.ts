import type { ServerConfig } from '../config/servers-config.js';
import type { CallGate } from './call-gate.js';
import type { ConnectionState } from './lifecycle/connection-state.js';
import type { LastFailure, ServerConnection } from './lifecycle/server-connection.js';
import { causeOf } from './lifecycle/unavailability.js';
import type { LinkEra } from './link/era-record.js';
import type { FailureCause } from './link/failure-cause.js';
import { ConnectError, type NotificationStreamStatus, type ServerFacts } from './link/link.js';
import { updateSourceOf, type UpdateSource } from './link/update-source.js';
import type { ListFailures } from './listing/list-failures.js';

/** The status of a backend for the admin API, health checks and metrics. */
export interface BackendStatus {
  readonly id: string;
  readonly state: ConnectionState;
  /** Why the server cannot be used; while connecting, why the previous link or attempt failed. */
  readonly cause: FailureCause | undefined;
  /**
   * The text of the error; for a ready server, the lists that could not be fetched. If an attempt to connect has taken at least
   * `MIN_WAITING_MS`, also says for how long. Undefined for an unresponsive server.
   */
  readonly reason: string | undefined;
  /** How many lists could not be fetched when they were last requested. */
  readonly failedLists: number;
  /** When the state was entered, in milliseconds since the epoch. */
  readonly since: number;
  /** When the first failure since the last ready state occurred; undefined if there is none. */
  readonly downSince: number | undefined;
  /** When the next attempt to connect begins; undefined while none is scheduled. */
  readonly nextAttemptAt: number | undefined;
  /** The last lost link or failed attempt, also while the server is ready again. */
  readonly lastFailure: LastFailure | undefined;
  /** Attempts to connect since the last ready state, the current one included. */
  readonly attempts: number;
  /** How many processes were started after the first; for an HTTP server, how many links were opened after the first. */
  readonly restarts: number;
  /** Calls since the server was enabled, or its connection settings were changed. */
  readonly calls: number;
  readonly inFlight: number;
  /** Requests in the queue of the call gate, those of the gateway itself included. */
  readonly waiting: number;
  readonly pid: number | undefined;
  readonly facts: ServerFacts | undefined;
  /** Undefined while there is no link. */
  readonly era: LinkEra | undefined;
  /** Undefined while there is no link. */
  readonly notificationStream: NotificationStreamStatus | undefined;
  /** Undefined while there is no link, and if the server has no resources. */
  readonly updates: UpdateSource | undefined;
  /** The last lines on stderr. The same array until the server writes more. */
  readonly stderr: readonly string[];
}

/** The parts of a backend that its status describes. */
interface StatusParts extends Pick<BackendStatus, 'id' | 'calls'> {
  readonly gate: CallGate;
  readonly connection: ServerConnection;
  readonly failures: ListFailures;
  readonly settings: ServerConfig;
  /** The last lines on stderr of the previous link. */
  readonly lastStderr: readonly string[];
}

export function backendStatus(parts: StatusParts): BackendStatus {
  const { id, calls, gate, connection, failures, settings, lastStderr } = parts;
  const { link, restarts, status, lastFailure, connectingMs } = connection;
  const { state, error, since, downSince, nextAttemptAt, attempts } = status;
  const failure = waitingText(connectingMs, error) ?? error?.message;
  const reason = state === 'ready' ? failures.reason : failure;
  const { subscribe, watch } = settings;
  return {
    id,
    state,
    cause: causeOf(status),
    reason: state === 'unresponsive' ? undefined : reason,
    failedLists: failures.size,
    since,
    downSince,
    nextAttemptAt,
    lastFailure,
    attempts,
    restarts,
    calls,
    inFlight: gate.inFlight,
    waiting: gate.waiting,
    pid: link?.pid,
    facts: link?.facts,
    era: link?.era,
    notificationStream: link?.notificationStream,
    updates: link?.facts.capabilities.resources && updateSourceOf(link, subscribe, watch.pollMs),
    stderr: link?.stderrTail() ?? (error instanceof ConnectError ? error.stderr : lastStderr),
  };
}

/** The time after which the status says that the server has not answered `initialize`. Most servers answer sooner. */
const MIN_WAITING_MS = 1000;

/** Says how long a server has been connecting, and, if `error` is defined, why the previous attempt failed. */
function waitingText(connectingMs = 0, error: Error | undefined): string | undefined {
  if (connectingMs < MIN_WAITING_MS) return undefined;
  const previousFailure = error ? `; before: ${error.message}` : '';
  return `waiting ${Math.floor(connectingMs / 1000)} s for initialize${previousFailure}`;
}
