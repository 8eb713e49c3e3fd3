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

  constructor(private readonly limit: number) {}

  get length(): number {
    return this.size;
  }

  /** The bytes that were appended so far, in order. */
  get pieces(): readonly Buffer[] {
    return this.chunks;
  }

  /** False when the limit is exceeded; the buffer is then empty. */
  append(chunk: Buffer): boolean {
    this.size += chunk.length;
    if (this.size > this.limit) {
      this.clear();
      return false;
    }
    const last = this.chunks.at(-1);
    if (last && chunk.length < MIN_CHUNK_BYTES) this.packChunk(chunk, last);
    else this.chunks.push(chunk);
    return true;
  }

  /** Removes and returns all bytes. A message of one chunk is not copied. */
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
