/**
 * A message of a server that comes within this time after a response, while no request is in flight, shows that the server sends
 * messages of a call after its response. After a longer time, the message may as well be one that belongs to no call.
 */
export const LATE_MESSAGE_MS = 100;

/** After how many calls in a row such a message must come from a server that also sends messages that belong to no call. */
export const LATE_MESSAGES_IN_ROW = 3;

/** Detects that a server with one stream for everything sends messages of a call after its response. Never forgets it. */
export class LateMessages {
  /** When the last call ended. */
  private endedAt = -Infinity;
  /** The value of `endedAt` at the last late message. */
  private lateAfter: number | undefined;
  private inRow = 0;
  /** Whether the server has sent a message that belongs to no call. */
  private sendsUnprompted = false;
  /** Whether the server has been found to send messages of a call after its response. */
  areExpected = false;

  callEnded(endedAt: number): void {
    if (endedAt > this.endedAt) this.endedAt = endedAt;
  }

  /**
   * To be called with a message that came while no request was in flight. `mayBeOfCall` says whether an ended call can be its
   * origin. Returns true when this message is the one that sets `areExpected`.
   */
  received(mayBeOfCall: boolean): boolean {
    if (this.areExpected) return false;
    if (!mayBeOfCall) {
      this.sendsUnprompted = true;
      this.inRow = 0;
    } else if (this.endedAt !== this.lateAfter && performance.now() - this.endedAt < LATE_MESSAGE_MS) {
      this.lateAfter = this.endedAt;
      this.inRow++;
      this.areExpected = this.inRow >= (this.sendsUnprompted ? LATE_MESSAGES_IN_ROW : 1);
    }
    return this.areExpected;
  }
}
