import { MOST_LETTERS } from './words.js';

/** UTF-8 needs no more for a UTF-16 unit. */
const MOST_BYTES = 3 * MOST_LETTERS;
const encoder = new TextEncoder();

/** A word in UTF-8, whose order is that of the code points. Made to be written again and again. */
export class WordBytes {
  readonly bytes = new Uint8Array(MOST_BYTES);
  length = 0;

  write(word: string): void {
    for (let i = 0; i < word.length; i++) {
      const code = word.charCodeAt(i);
      if (code > 0x7f) {
        this.length = encoder.encodeInto(word, this.bytes).written;
        return;
      }
      this.bytes[i] = code;
    }
    this.length = word.length;
  }

  copy(bytes: Uint8Array, start: number, end: number): void {
    this.length = end - start;
    for (let i = 0; i < this.length; i++) this.bytes[i] = bytes[start + i]!;
  }

  /** Not negative. */
  hash(): number {
    let hash = this.length;
    for (let i = 0; i < this.length; i++) hash = (Math.imul(hash, 31) + this.bytes[i]!) | 0;
    return (hash ^ (hash >>> 15)) >>> 0;
  }
}
