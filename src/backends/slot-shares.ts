/** How long a principal counts as using a server after its last call. */
const SHARED_MS = 30_000;
/** The part of the slots that one principal leaves to others while others use the server too. */
const RESERVED_SHARE = 0.25;

/**
 * The calls in flight at one server, by principal. While several principals use the server, none of them may take all
 * slots, so that a call of another principal need not wait until a slow call ends. A single principal may take all slots.
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

  /** Whether the principal may take one more of `slots`, of which at least one is free. */
  allows(principal: string, slots: number): boolean {
    const running = this.running.get(principal) ?? 0;
    return running < slots - reserved(slots) || performance.now() >= this.sharedUntil;
  }
}

const reserved = (slots: number): number =>
  slots === 1 ? 0 : Math.max(1, Math.floor(slots * RESERVED_SHARE));
