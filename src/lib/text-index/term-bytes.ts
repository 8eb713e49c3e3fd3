import { MAX_TERM_LENGTH } from './tokenizer.js';

/** A UTF-16 unit takes at most three bytes in UTF-8. */
const MAX_BYTES = 3 * MAX_TERM_LENGTH;
const encoder = new TextEncoder();

/** A reusable buffer for one term in UTF-8, whose byte order is the order of code points. */
export class TermBytes {
  readonly bytes = new Uint8Array(MAX_BYTES);
  length = 0;

  write(term: string): void {
    for (let i = 0; i < term.length; i++) {
      const code = term.charCodeAt(i);
      if (code > 0x7f) {
        this.length = encoder.encodeInto(term, this.bytes).written;
        return;
      }
      this.bytes[i] = code;
    }
    this.length = term.length;
  }

  copy(bytes: Uint8Array, start: number, end: number): void {
    this.length = end - start;
    for (let i = 0; i < this.length; i++) this.bytes[i] = bytes[start + i]!;
  }

  /** A non-negative integer. */
  hash(): number {
    let hash = this.length;
    for (let i = 0; i < this.length; i++) hash = (Math.imul(hash, 31) + this.bytes[i]!) | 0;
    return (hash ^ (hash >>> 15)) >>> 0;
  }

  /**
   * Whether one insertion, deletion, substitution or transposition turns this term into the one in `bytes`. Edits are
   * counted in bytes, so of letters that take several bytes only some edits are found.
   */
  isWithinOneEdit(bytes: Uint8Array, start: number, end: number): boolean {
    const length = end - start;
    const difference = length - this.length;
    if (Math.abs(difference) > 1) return false;
    let shared = 0;
    while (shared < length && shared < this.length && this.bytes[shared] === bytes[start + shared]) shared++;
    if (difference === 1) return this.isSameFrom(shared, bytes, start + shared + 1, end);
    if (difference === -1) return this.isSameFrom(shared + 1, bytes, start + shared, end);
    return (
      this.isSameFrom(shared + 1, bytes, start + shared + 1, end) ||
      this.isTransposedAt(shared, bytes, start + shared, end)
    );
  }

  /** Whether this term, from `from` on, equals the bytes from `start` to `end`. */
  private isSameFrom(from: number, bytes: Uint8Array, start: number, end: number): boolean {
    for (let i = 0; start + i < end; i++) if (this.bytes[from + i] !== bytes[start + i]) return false;
    return true;
  }

  private isTransposedAt(from: number, bytes: Uint8Array, start: number, end: number): boolean {
    return (
      this.bytes[from] === bytes[start + 1] &&
      this.bytes[from + 1] === bytes[start] &&
      this.isSameFrom(from + 2, bytes, start + 2, end)
    );
  }
}
