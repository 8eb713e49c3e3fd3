/** Timing of the directory lock. */
export interface LockTiming {
  readonly heartbeatMs: number;
  /** How long a claim is valid without a heartbeat when its process is in another container or on another machine. */
  readonly leaseMs: number;
  /** Two processes that start at once both withdraw and retry; within this period one of them succeeds. */
  readonly contentionMs: number;
}

export const LOCK_TIMING: LockTiming = { heartbeatMs: 2_000, leaseMs: 7_000, contentionMs: 300 };
