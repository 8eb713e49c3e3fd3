import type { ConnectionState } from './lifecycle/connection-state.js';
import type { FailureCause } from './link/failure-cause.js';
import type { NotificationStreamStatus, ServerFacts } from './link/link.js';
import type { UpdateSource } from './link/update-source.js';

/** A backend as the admin API, health checks and metrics read it. */
export interface BackendStatus {
  readonly id: string;
  readonly state: ConnectionState;
  /** Why the server is not connected; while connecting, why it was not before. */
  readonly cause: FailureCause | undefined;
  /** The same with details; of a ready server, the lists that could not be fetched. */
  readonly reason: string | undefined;
  /** How many lists could not be fetched when they were last requested. */
  readonly failedLists: number;
  /** When the state was entered, in milliseconds since the epoch. */
  readonly since: number;
  /** Attempts to connect since the last ready state. */
  readonly attempts: number;
  /** How many processes were started after the first; without a process, how many links were opened after the first. */
  readonly restarts: number;
  /** Calls since the server was enabled. */
  readonly calls: number;
  readonly inFlight: number;
  /** Calls in the queue of the call gate. */
  readonly waiting: number;
  readonly pid: number | undefined;
  readonly facts: ServerFacts | undefined;
  /** Undefined while there is no link, and for `updates` also when the server has no resources. */
  readonly notificationStream: NotificationStreamStatus | undefined;
  readonly updates: UpdateSource | undefined;
  /** The last lines on stderr. The same array until the server writes more. */
  readonly stderr: readonly string[];
}
