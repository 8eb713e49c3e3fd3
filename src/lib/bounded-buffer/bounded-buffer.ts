const EMPTY = Buffer.alloc(0);
/** Capacity of the first Buffer into which chunks are copied, if the size of the message is not known. */
const MIN_CAPACITY_BYTES = 4 * 1024;
/**
 * From this size on, the capacity grows to the expected size or fourfold. Then at most 4 MB of a message of 16 MB are moved at
 * once, which takes a few milliseconds. The part of the Buffer that is not written takes no resident memory.
 */
const LARGE_BYTES = 1024 * 1024;

/**
 * Collects the chunks of one message up to a limit, so that the message is decoded as a whole and no character is split.
 */
export class BoundedBuffer {
  private size = 0;
  /** The only chunk of the message so far. It belongs to the caller and is not written to. */
  private onlyChunk: Buffer | undefined;
  /** The Buffer into which chunks are copied as they arrive. */
  private target: Buffer | undefined;

  constructor(
    private readonly limitBytes: number,
    /** The size that the sender has announced; 0 if it is not known. */
    private readonly expectedBytes = 0,
  ) {}

  get length(): number {
    return this.size;
  }

  /** The bytes that were appended so far. The next `append` may move them. */
  get bytes(): Buffer {
    return this.onlyChunk ?? this.target?.subarray(0, this.size) ?? EMPTY;
  }

  /** Returns false when the limit is exceeded; the buffer is then empty. */
  append(chunk: Buffer): boolean {
    const size = this.size + chunk.length;
    if (size > this.limitBytes) {
      this.clear();
      return false;
    }
    if (this.size === 0 && this.expectedBytes === 0) this.onlyChunk = chunk;
    else chunk.copy(this.targetFor(size), this.size);
    this.size = size;
    return true;
  }

  /** Removes and returns all bytes. A message of one chunk is not copied. */
  take(): Buffer {
    const taken = this.bytes;
    this.clear();
    return taken;
  }

  /** A Buffer with room for `size` bytes that begins with the bytes so far. */
  private targetFor(size: number): Buffer {
    if (this.target && size <= this.target.length) return this.target;
    const target = Buffer.allocUnsafeSlow(Math.min(this.capacityFor(size), this.limitBytes));
    this.bytes.copy(target);
    this.onlyChunk = undefined;
    return (this.target = target);
  }

  /** A sender that announces a large message gets the memory for it when the first megabyte has arrived. */
  private capacityFor(size: number): number {
    const isLarge = size >= LARGE_BYTES;
    if (size <= this.expectedBytes)
      return isLarge ? this.expectedBytes : Math.min(this.expectedBytes, LARGE_BYTES);
    let capacity = isLarge ? LARGE_BYTES : MIN_CAPACITY_BYTES;
    while (capacity < size) capacity *= isLarge ? 4 : 2;
    return capacity;
  }

  private clear(): void {
    this.size = 0;
    this.onlyChunk = undefined;
    this.target = undefined;
  }
}
