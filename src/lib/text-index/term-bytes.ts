import { MAX_TERM_LENGTH } from './tokenizer.js';

/** A UTF-16 unit takes at most three bytes in UTF-8. */
const MAX_BYTES = 3 * MAX_TERM_LENGTH;
const encoder = new TextEncoder();

/** A reusable buffer for one term in UTF-8. Comparing the bytes of two terms gives the order of their code points. */
export class TermBytes {
  readonly bytes = new Uint8Array(MAX_BYTES);
  length = 0;

  /** Encodes a term into the buffer. */
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

  /** Copies an encoded term into the buffer. */
  copy(bytes: Uint8Array, start: number, end: number): void {
    this.length = end - start;
    for (let i = 0; i < this.length; i++) this.bytes[i] = bytes[start + i]!;
  }

  /** A hash of the term: an integer that is not negative. */
  hash(): number {
    let hash = this.length;
    for (let i = 0; i < this.length; i++) hash = (Math.imul(hash, 31) + this.bytes[i]!) | 0;
    return (hash ^ (hash >>> 15)) >>> 0;
  }

  /**
   * Whether one insertion, deletion, substitution or transposition turns this term into the one in `bytes`. Edits are
   * counted in bytes, so an edit of a letter that takes several bytes is not always found.
   */
  isWithinOneEdit(bytes: Uint8Array, start: number, end: number): boolean {
    const length = end - start;
    const difference = length - this.length;
    if (Math.abs(difference) > 1) return false;
    let prefix = 0;
    while (prefix < length && prefix < this.length && this.bytes[prefix] === bytes[start + prefix]) prefix++;
    const isInsertion = difference === 1;
    const isDeletion = difference === -1;
    if (isInsertion) return this.isSameFrom(prefix, bytes, start + prefix + 1, end);
    if (isDeletion) return this.isSameFrom(prefix + 1, bytes, start + prefix, end);
    const isSubstitution = this.isSameFrom(prefix + 1, bytes, start + prefix + 1, end);
    return isSubstitution || this.isTransposedAt(prefix, bytes, start + prefix, end);
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
