const EMPTY = Buffer.alloc(0);
/**
 * Smaller chunks are copied into a shared Buffer, because a Buffer for each small chunk would take many times its memory.
 */
const MIN_CHUNK_BYTES = 4 * 1024;
const MAX_PACK_BYTES = 64 * 1024;

/** Collects the chunks of one message up to a limit, so that it is decoded as a whole and no character is split. */
export class BoundedBuffer {
  private chunks: Buffer[] = [];
  private size = 0;
  /** The Buffer into which small chunks are copied, and how many of its bytes are used. */
  private pack: Buffer = EMPTY;
  private packed = 0;

  /** A Buffer of the expected size, into which all chunks are copied. */
  private whole: Buffer | undefined;

  /** With `expectedBytes`, chunks are copied as they arrive, so that neither they nor a second copy stay in memory. */
  constructor(
    private readonly limit: number,
    expectedBytes = 0,
  ) {
    if (expectedBytes > 0) this.whole = Buffer.allocUnsafeSlow(Math.min(expectedBytes, limit));
  }

  get length(): number {
    return this.size;
  }

  /** The bytes that were appended so far, in order. */
  get pieces(): readonly Buffer[] {
    return this.whole ? [this.whole.subarray(0, this.size)] : this.chunks;
  }

  /** False when the limit is exceeded; the buffer is then empty. */
  append(chunk: Buffer): boolean {
    this.size += chunk.length;
    if (this.size > this.limit) {
      this.clear();
      return false;
    }
    if (this.whole && this.copyIntoWhole(this.whole, chunk)) return true;
    const last = this.chunks.at(-1);
    if (last && chunk.length < MIN_CHUNK_BYTES) this.packChunk(chunk, last);
    else this.chunks.push(chunk);
    return true;
  }

  /** Removes and returns all bytes. A message of one chunk is not copied. */
  take(): Buffer {
    const [first = EMPTY] = this.pieces;
    const taken = this.chunks.length > 1 ? Buffer.concat(this.chunks, this.size) : first;
    this.clear();
    return taken;
  }

  /** False when there are more bytes than expected. The bytes so far then become the first chunk. */
  private copyIntoWhole(whole: Buffer, chunk: Buffer): boolean {
    const before = this.size - chunk.length;
    if (this.size <= whole.length) return chunk.copy(whole, before) === chunk.length;
    this.whole = undefined;
    if (before > 0) this.chunks.push(whole.subarray(0, before));
    return false;
  }

  private clear(): void {
    this.whole = undefined;
    this.chunks = [];
    this.size = 0;
    this.pack = EMPTY;
    this.packed = 0;
  }

  private packChunk(chunk: Buffer, last: Buffer): void {
    if (this.packed + chunk.length > this.pack.length) {
      this.pack = Buffer.allocUnsafeSlow(Math.min(Math.max(2 * this.size, MIN_CHUNK_BYTES), MAX_PACK_BYTES));
      this.packed = 0;
    }
    const { pack, packed } = this;
    chunk.copy(pack, packed);
    this.packed += chunk.length;
    const continuesLast = last.buffer === pack.buffer && last.byteOffset + last.length === packed;
    if (continuesLast) this.chunks[this.chunks.length - 1] = pack.subarray(last.byteOffset, this.packed);
    else this.chunks.push(pack.subarray(packed, this.packed));
  }
}
