const EMPTY = Buffer.alloc(0);

/**
 * Bytes gathered until they are a whole, so that no character is decoded in halves. One chunk is kept as it is;
 * more are copied into one buffer that doubles, because a server may send its answer byte by byte.
 */
export class MessageBytes {
  private bytes: Buffer = EMPTY;
  private used = 0;

  constructor(private readonly limit: number) {}

  get length(): number {
    return this.used;
  }

  /** False when there would be more than the limit; then nothing is kept. */
  append(chunk: Buffer): boolean {
    const size = this.used + chunk.length;
    if (size > this.limit) {
      this.clear();
      return false;
    }
    if (this.used === 0) this.bytes = chunk;
    else this.copyIn(chunk, size);
    this.used = size;
    return true;
  }

  /** Everything so far; what comes after begins anew. */
  take(): Buffer {
    const taken = this.used === this.bytes.length ? this.bytes : this.bytes.subarray(0, this.used);
    this.clear();
    return taken;
  }

  clear(): void {
    this.bytes = EMPTY;
    this.used = 0;
  }

  private copyIn(chunk: Buffer, size: number): void {
    if (size > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(Math.max(size, 2 * this.used), this.limit));
      this.bytes.copy(larger, 0, 0, this.used);
      this.bytes = larger;
    }
    chunk.copy(this.bytes, this.used);
  }
}
