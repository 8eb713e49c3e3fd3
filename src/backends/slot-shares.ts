/** How long the server counts as shared after two successive calls of different principals. */
const SHARED_USE_MS = 30_000;
/** The part of the slots that each principal leaves to the others while the server is shared. */
const SHARED_RESERVE = 0.25;
/** After a call that ran alone and took longer, the next such call of its principal waits for as long as that call took. */
const MIN_LONG_MS = 1000;
/** The wait after a long call ends early when no other principal has used the server for this time. */
const OTHERS_IDLE_MS = 1000;
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
 *
 * A call that runs alone, because it is exclusive or the server has one slot, leaves nothing to the others. If it takes long,
 * the next such call of the same principal waits for the same time, unless other principals stop using the server.
 */
export class SlotShares {
  /** By principal: the number of its calls in flight. Each holds one slot. */
  private readonly running = new Map<string, number>();
  /** The principal whose call arrived or ended last. */
  private latestPrincipal: string | undefined;
  /** When the last call of any other principal arrived or ended. */
  private othersUsedAt = -Infinity;
  private latestUsedAt = -Infinity;
  /** By principal: until when its calls that run alone wait for those of others. */
  private readonly waitsUntil = new Map<string, number>();
  /** The server counts as shared until this time of `performance.now()`. */
  private sharedUntil = 0;

  constructor(private readonly keepsNewcomerReserve: () => boolean) {}

  /** To be called for every call that arrives. */
  arrived(principal: string): void {
    if (this.latestPrincipal !== undefined && principal !== this.latestPrincipal)
      this.sharedUntil = performance.now() + SHARED_USE_MS;
    this.used(principal);
  }

  /** To be called when a call has taken a slot. Each must be followed by a call of `ended`. */
  started(principal: string): void {
    this.running.set(principal, (this.running.get(principal) ?? 0) + 1);
  }

  /** `aloneMs` is the time for which the call kept all other calls from running. */
  ended(principal: string, aloneMs: number): void {
    this.used(principal);
    if (aloneMs > MIN_LONG_MS) this.waitAfter(principal, aloneMs);
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

  /**
   * Whether a call of the principal may run alone, and keep all other calls from running until it ends. `queued` are the
   * principals with queued calls.
   */
  mayRunAlone(principal: string, queued: Iterable<string>): boolean {
    // The call starts after the other calls of its principal have ended. Until then, it must not hold back calls of others.
    if (this.running.has(principal)) return false;
    const until = this.waitsUntil.get(principal);
    if (until === undefined || until <= performance.now()) return true;
    if (this.othersUse(principal)) return false;
    // If all principals with queued calls would have to wait, the one whose wait ends first need not.
    for (const other of queued) if ((this.waitsUntil.get(other) ?? 0) < until) return false;
    return true;
  }

  /**
   * Whether other principals have calls in flight, or have used the server within `OTHERS_IDLE_MS`. To be called only if this
   * principal has no call in flight, so that `running` contains only other principals.
   */
  private othersUse(principal: string): boolean {
    const usedAt = principal === this.latestPrincipal ? this.othersUsedAt : this.latestUsedAt;
    return this.running.size > 0 || performance.now() - usedAt < OTHERS_IDLE_MS;
  }

  private waitAfter(principal: string, aloneMs: number): void {
    const now = performance.now();
    for (const [each, until] of this.waitsUntil) if (until <= now) this.waitsUntil.delete(each);
    this.waitsUntil.set(principal, now + aloneMs);
  }

  private used(principal: string): void {
    if (principal !== this.latestPrincipal) {
      this.othersUsedAt = this.latestUsedAt;
      this.latestPrincipal = principal;
    }
    this.latestUsedAt = performance.now();
  }

  /** Whether the newcomer reserve allows a principal with this number of slots to take one more. It allows newcomers any slot. */
  leavesNewcomerReserve(heldSlots: number, slots: number, freeSlots: number): boolean {
    if (heldSlots === 0 || slots < MIN_SLOTS_OF_RESERVE) return true;
    return freeSlots > reservedSlots(slots, NEWCOMER_RESERVE) || !this.keepsNewcomerReserve();
  }
}

/** The only slot of a server is never reserved: otherwise, no call could run. */
const reservedSlots = (slots: number, share: number): number =>
  slots === 1 ? 0 : Math.max(1, Math.floor(slots * share));
