/** How long a principal counts as using a server after its last call. */
const SHARED_MS = 30_000;
/** The part of the slots that one principal leaves to others while others use the server too. */
const SHARED_RESERVE = 0.25;
/** The part of the slots that stays free for principals without a call at the server, at least one slot. */
const NEWCOMER_RESERVE = 1 / 16;
/** With fewer slots, none stays free: it would be too large a part of them. */
const MIN_SLOTS_OF_RESERVE = 4;

/**
 * The calls in flight at one server, by principal. Where clients authenticate, the last free slots go only to principals that
 * hold no slot: a new principal does not wait until a slow call ends, however long another one was alone. While several
 * principals use the server, each also leaves a larger part to the others. With one slot, neither is possible.
 */
export class SlotShares {
  private readonly running = new Map<string, number>();
  /** The principal of the latest call. */
  private latest: string | undefined;
  /** Until this time, several principals count as using the server. */
  private sharedUntil = 0;

  constructor(private readonly keepsNewcomerReserve: () => boolean) {}

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
    if (!this.leavesNewcomerReserve(running, slots, free)) return false;
    return running < slots - reserved(slots, SHARED_RESERVE) || performance.now() >= this.sharedUntil;
  }

  /** Whether the holder of `held` slots may take one more without using those that stay free for principals without a slot. */
  leavesNewcomerReserve(held: number, slots: number, free: number): boolean {
    if (held === 0 || slots < MIN_SLOTS_OF_RESERVE) return true;
    return free > reserved(slots, NEWCOMER_RESERVE) || !this.keepsNewcomerReserve();
  }
}

const reserved = (slots: number, share: number): number =>
  slots === 1 ? 0 : Math.max(1, Math.floor(slots * share));
