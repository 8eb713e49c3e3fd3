const EMPTY = Buffer.alloc(0);
/** Chunks below this are packed together: a server may send byte by byte, and a Buffer each would cost a hundredfold. */
const SMALL = 4 * 1024;
const LARGEST_PACK = 64 * 1024;

/** Bytes gathered until they are a whole, so that no character is decoded in halves. */
export class BoundedBuffer {
  private chunks: Buffer[] = [];
  private size = 0;
  private pack: Buffer = EMPTY;
  private packed = 0;

  constructor(private readonly limit: number) {}

  get length(): number {
    return this.size;
  }

  /** False when there would be more than the limit; then nothing is kept. */
  append(chunk: Buffer): boolean {
    this.size += chunk.length;
    if (this.size > this.limit) {
      this.clear();
      return false;
    }
    const last = this.chunks.at(-1);
    if (last && chunk.length < SMALL) this.packUp(chunk, last);
    else this.chunks.push(chunk);
    return true;
  }

  /** Everything so far; what comes after begins anew. Bytes that came in one chunk are not copied. */
  take(): Buffer {
    const [first = EMPTY] = this.chunks;
    const taken = this.chunks.length > 1 ? Buffer.concat(this.chunks, this.size) : first;
    this.clear();
    return taken;
  }

  private clear(): void {
    this.chunks = [];
    this.size = 0;
    this.pack = EMPTY;
    this.packed = 0;
  }

  private packUp(chunk: Buffer, last: Buffer): void {
    if (this.packed + chunk.length > this.pack.length) {
      this.pack = Buffer.allocUnsafeSlow(Math.min(Math.max(2 * this.size, SMALL), LARGEST_PACK));
      this.packed = 0;
    }
    const { pack, packed } = this;
    chunk.copy(pack, packed);
    this.packed += chunk.length;
    const isNext = last.buffer === pack.buffer && last.byteOffset + last.length === packed;
    if (isNext) this.chunks[this.chunks.length - 1] = pack.subarray(last.byteOffset, this.packed);
    else this.chunks.push(pack.subarray(packed, this.packed));
  }
}
