import { mapMember, memberText } from '../../lib/json-text/json-text.js';

/**
 * Makes the progress of one client request rise, although the gateway may send several requests to the server for it, one
 * after the other: after each `input_required`, a server of revision 2026-07-28 may begin to count anew.
 */
export class RisingProgress {
  /** The current request to the server. */
  private requestId: number | undefined;
  /** Whether the gateway has sent more than one request. */
  private hasSeveralRequests = false;
  /** The number that is added to the progress of the current request; undefined until its first notification. */
  private offset: number | undefined = 0;
  /** The highest progress that was sent to the client. */
  private highest = -Infinity;

  /**
   * The params of a notification for the client; undefined if the progress would not rise. As long as there is only one
   * request to the server, its progress is not checked.
   */
  next(requestId: number, params: string): string | undefined {
    if (this.requestId !== undefined && this.requestId !== requestId) {
      this.hasSeveralRequests = true;
      this.offset = undefined;
    }
    this.requestId = requestId;
    const value = numberIn(params, 'progress');
    if (value === undefined) return params;
    this.offset ??= value > this.highest ? 0 : this.highest;
    const progress = value + this.offset;
    if (this.hasSeveralRequests && !(progress > this.highest && progress < Infinity)) return undefined;
    this.highest = Math.max(this.highest, progress);
    return this.offset === 0 ? params : this.shifted(params, progress);
  }

  /** The params with this progress, and with the total raised by the same offset. */
  private shifted(params: string, progress: number): string {
    const total = (numberIn(params, 'total') ?? NaN) + this.offset!;
    const text = mapMember(params, 'progress', () => String(progress));
    return Number.isFinite(total) ? mapMember(text, 'total', () => String(total)) : text;
  }
}

function numberIn(params: string, key: string): number | undefined {
  const text = memberText(params, key);
  // The JSON text of a number begins with a digit or a minus sign.
  return text !== undefined && /^[-\d]/.test(text) ? Number(text) : undefined;
}
