/** How long a principal counts as using a server after its last call. */
const SHARED_MS = 30_000;
/** The part of the slots that one principal leaves to others while others use the server too. */
const SHARED_RESERVE = 0.25;
/** The part of the slots that stays free for principals without a call at the server, at least one slot. */
const NEWCOMER_RESERVE = 1 / 16;

/**
 * The calls in flight at one server, by principal. The last free slots go only to principals that hold no slot: a new
 * principal does not wait until a slow call ends, however long another one was alone. While several principals use the
 * server, each also leaves a larger part to the others. With one slot, neither is possible.
 */
export class SlotShares {
  private readonly running = new Map<string, number>();
  /** The principal of the latest call. */
  private latest: string | undefined;
  /** Until this time, several principals count as using the server. */
  private sharedUntil = 0;

  /** To be called for every call that arrives. */
  arrived(principal: string): void {
    if (principal === this.latest) return;
    if (this.latest !== undefined) this.sharedUntil = performance.now() + SHARED_MS;
    this.latest = principal;
  }

  started(principal: string): void {
    this.running.set(principal, (this.running.get(principal) ?? 0) + 1);
  }

  ended(principal: string): void {
    const left = this.running.get(principal)! - 1;
    if (left > 0) this.running.set(principal, left);
    else this.running.delete(principal);
  }

  /** Whether the principal may take one more of `slots`, of which `free` are free. */
  allows(principal: string, slots: number, free: number): boolean {
    const running = this.running.get(principal) ?? 0;
    if (!leavesNewcomerReserve(running, slots, free)) return false;
    return running < slots - reserved(slots, SHARED_RESERVE) || performance.now() >= this.sharedUntil;
  }
}

/** Whether the holder of `held` slots may take one more without using those that stay free for principals without a slot. */
export const leavesNewcomerReserve = (held: number, slots: number, free: number): boolean =>
  held === 0 || free > reserved(slots, NEWCOMER_RESERVE);

const reserved = (slots: number, share: number): number =>
  slots === 1 ? 0 : Math.max(1, Math.floor(slots * share));
