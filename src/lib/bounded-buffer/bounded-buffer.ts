const EMPTY = Buffer.alloc(0);
/**
 * Smaller chunks are packed: copied into a shared Buffer, because a Buffer of its own takes many times the memory of a
 * small chunk.
 */
const MIN_CHUNK_BYTES = 4 * 1024;
const MAX_PACK_BYTES = 64 * 1024;

/**
 * Collects the chunks of one message up to a limit, so that the message is decoded as a whole and no character is split.
 */
export class BoundedBuffer {
  private chunks: Buffer[] = [];
  private size = 0;
  /** The Buffer into which small chunks are copied, and the number of its bytes that are used. */
  private pack: Buffer = EMPTY;
  private packedBytes = 0;

  /** The Buffer into which all chunks are copied if the size of the message is known. */
  private whole: Buffer | undefined;

  /** With `expectedBytes`, chunks are copied into one Buffer as they arrive, so that the chunks do not stay in memory. */
  constructor(
    private readonly limitBytes: number,
    expectedBytes = 0,
  ) {
    if (expectedBytes > 0) this.whole = Buffer.allocUnsafeSlow(Math.min(expectedBytes, limitBytes));
  }

  get length(): number {
    return this.size;
  }

  /** The bytes that were appended so far, in order. */
  get pieces(): readonly Buffer[] {
    return this.whole ? [this.whole.subarray(0, this.size)] : this.chunks;
  }

  /** Returns false when the limit is exceeded; the buffer is then empty. */
  append(chunk: Buffer): boolean {
    this.size += chunk.length;
    if (this.size > this.limitBytes) {
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

  /** Returns false when there are more bytes than expected. The bytes before this chunk then become the first chunk. */
  private copyIntoWhole(whole: Buffer, chunk: Buffer): boolean {
    const sizeBefore = this.size - chunk.length;
    if (this.size <= whole.length) {
      chunk.copy(whole, sizeBefore);
      return true;
    }
    this.whole = undefined;
    if (sizeBefore > 0) this.chunks.push(whole.subarray(0, sizeBefore));
    return false;
  }

  private clear(): void {
    this.whole = undefined;
    this.chunks = [];
    this.size = 0;
    this.pack = EMPTY;
    this.packedBytes = 0;
  }

  /**
   * Copies a small chunk into the pack. `last` is the last of `chunks`; the new chunk extends it if both are in the pack.
   */
  private packChunk(chunk: Buffer, last: Buffer): void {
    if (this.packedBytes + chunk.length > this.pack.length) {
      this.pack = Buffer.allocUnsafeSlow(Math.min(Math.max(2 * this.size, MIN_CHUNK_BYTES), MAX_PACK_BYTES));
      this.packedBytes = 0;
    }
    const { pack, packedBytes: start } = this;
    chunk.copy(pack, start);
    this.packedBytes += chunk.length;
    const extendsLast = last.buffer === pack.buffer && last.byteOffset + last.length === start;
    if (extendsLast) this.chunks[this.chunks.length - 1] = pack.subarray(last.byteOffset, this.packedBytes);
    else this.chunks.push(pack.subarray(start, this.packedBytes));
  }
}
