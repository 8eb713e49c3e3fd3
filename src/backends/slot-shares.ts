/** How long the server counts as shared after two successive calls of different principals. */
const SHARED_USE_MS = 30_000;
/** The part of the slots that each principal leaves to the others while the server is shared. */
const SHARED_RESERVE = 0.25;
/** The part of the slots that only newcomers may take, at least one slot. A newcomer is a principal that holds no slot. */
const NEWCOMER_RESERVE = 1 / 16;
/** A server with fewer slots has no newcomer reserve, because one slot would be too large a part of them. */
const MIN_SLOTS_OF_RESERVE = 4;

/**
 * Decides which principal may take a slot of one server, and counts the slots that each principal holds. Two reserves keep
 * one principal from taking all slots:
 * - The last free slots are for principals that hold none, so that such a principal need not wait for the end of a slow call.
 *   This reserve exists only if clients authenticate.
 * - While several principals use the server, each of them leaves a larger part of the slots to the others.
 */
export class SlotShares {
  /** By principal: the number of its calls in flight. Each holds one slot. */
  private readonly running = new Map<string, number>();
  /** The principal of the latest call. */
  private latestPrincipal: string | undefined;
  /** The server counts as shared until this time of `performance.now()`. */
  private sharedUntil = 0;

  constructor(private readonly keepsNewcomerReserve: () => boolean) {}

  /** To be called for every call that arrives. */
  arrived(principal: string): void {
    if (principal === this.latestPrincipal) return;
    if (this.latestPrincipal !== undefined) this.sharedUntil = performance.now() + SHARED_USE_MS;
    this.latestPrincipal = principal;
  }

  /** To be called when a call has taken a slot. Each must be followed by a call of `ended`. */
  started(principal: string): void {
    this.running.set(principal, (this.running.get(principal) ?? 0) + 1);
  }

  ended(principal: string): void {
    const left = this.running.get(principal)! - 1;
    if (left > 0) this.running.set(principal, left);
    else this.running.delete(principal);
  }

  /** Whether the principal may take one more slot. The server has `slots`, of which `freeSlots` are free. */
  allows(principal: string, slots: number, freeSlots: number): boolean {
    const heldSlots = this.running.get(principal) ?? 0;
    if (!this.leavesNewcomerReserve(heldSlots, slots, freeSlots)) return false;
    if (heldSlots < slots - reservedSlots(slots, SHARED_RESERVE)) return true;
    const isShared = performance.now() < this.sharedUntil;
    return !isShared;
  }

  /** Whether the newcomer reserve allows a principal with this number of slots to take one more. It allows newcomers any slot. */
  leavesNewcomerReserve(heldSlots: number, slots: number, freeSlots: number): boolean {
    if (heldSlots === 0 || slots < MIN_SLOTS_OF_RESERVE) return true;
    return freeSlots > reservedSlots(slots, NEWCOMER_RESERVE) || !this.keepsNewcomerReserve();
  }
}

/** The only slot of a server is never reserved: no call could run. */
const reservedSlots = (slots: number, share: number): number =>
  slots === 1 ? 0 : Math.max(1, Math.floor(slots * share));
