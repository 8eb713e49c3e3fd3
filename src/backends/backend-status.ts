import type { ConnectionState } from './lifecycle/connection-state.js';
import type { NotificationStreamStatus, ServerFacts } from './link/link.js';
import type { UpdateSource } from './link/update-source.js';

/** A backend as the admin API, health checks and metrics read it. */
export interface BackendStatus {
  readonly id: string;
  readonly state: ConnectionState;
  /** Why the server is not connected. */
  readonly reason: string | undefined;
  /** When the state was entered, in milliseconds since the epoch. */
  readonly since: number;
  /** How many links were opened after the first. */
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
