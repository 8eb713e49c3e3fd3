/** A response with at least this many bytes counts as large. */
export const LARGE_RESPONSE_BYTES = 1024 * 1024;
/** Maximum large responses of one server that are read at the same time. */
const MAX_AT_ONCE = 8;

interface LargeResponse {
  /** Called when a response for which `admit` returned false may be read. */
  admitted(): void;
}

/**
 * Limits how many large responses of one server are read at the same time. The memory for them is therefore bounded:
 * `MAX_AT_ONCE` times the maximum size of a message. The connections of further large responses are paused, and continue in
 * the order in which they were paused.
 */
export class LargeResponses {
  private readonly reading = new Set<LargeResponse>();
  private readonly waiting = new Set<LargeResponse>();

  /** To be called for a large response. Returns false when the response has to wait until its `admitted` is called. */
  admit(response: LargeResponse): boolean {
    if (this.reading.has(response)) return true;
    if (this.reading.size < MAX_AT_ONCE) {
      this.reading.add(response);
      return true;
    }
    this.waiting.add(response);
    return false;
  }

  /** To be called when a large response has ended, or when it is an event stream of which few bytes are left in memory. */
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
