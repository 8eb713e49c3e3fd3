/** The times of a lock, in milliseconds. */
export interface LockTiming {
  readonly beat: number;
  /** How long a claim counts without a beat when its process cannot be seen: it is in another container or machine. */
  readonly lease: number;
  /** Two that start at once see each other and both step back; in this time one of them comes through. */
  readonly contest: number;
}

export const LOCK_TIMING: LockTiming = { beat: 2_000, lease: 7_000, contest: 300 };
