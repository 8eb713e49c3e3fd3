/** A response with at least this many bytes counts as large. */
export const LARGE_RESPONSE_BYTES = 1024 * 1024;
const MAX_AT_ONCE = 8;

interface LargeResponse {
  /** Called when a response that was not admitted may be read on. */
  admitted(): void;
}

/**
 * Limits the large responses of one server that are read at the same time, so that its memory in the gateway is bounded:
 * eight times the maximum size of a message. The connections of further large responses are paused, and continue in order.
 */
export class LargeResponses {
  private readonly reading = new Set<LargeResponse>();
  private readonly waiting = new Set<LargeResponse>();

  /** False when the response has to wait until `admitted` is called. */
  admit(response: LargeResponse): boolean {
    if (this.reading.has(response)) return true;
    if (this.reading.size < MAX_AT_ONCE) {
      this.reading.add(response);
      return true;
    }
    this.waiting.add(response);
    return false;
  }

  /** To be called when a response has ended, or is not large any more. */
  release(response: LargeResponse): void {
    this.waiting.delete(response);
    if (!this.reading.delete(response)) return;
    const [next] = this.waiting;
    if (!next) return;
    this.waiting.delete(next);
    this.reading.add(next);
    next.admitted();
  }
}
