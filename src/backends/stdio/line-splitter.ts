const LF = 0x0a;

/** Receives lines without their newlines, as ranges of bytes. */
interface LineReader {
  /** A part of a line that has not ended. */
  readPart(bytes: Buffer): void;
  /** The last part of a line; the whole line if no other part came before. */
  endLine(bytes: Buffer, start: number, end: number): void;
}

/** Splits chunks into lines. The reader gets the parts of a line as they arrive. */
export class LineSplitter {
  /** Bytes of the unfinished line. */
  private lineBytes = 0;

  constructor(
    private readonly maxLineBytes: number,
    private readonly reader: LineReader,
  ) {}

  /** Returns false when a line is over the size limit. */
  push(chunk: Buffer): boolean {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      if (this.lineBytes + end - start > this.maxLineBytes) return false;
      this.lineBytes = 0;
      this.reader.endLine(chunk, start, end);
      start = end + 1;
    }
    if (start === chunk.length) return true;
    this.lineBytes += chunk.length - start;
    if (this.lineBytes > this.maxLineBytes) return false;
    this.reader.readPart(chunk.subarray(start));
    return true;
  }

  /** Drops the unfinished line. */
  clear(): void {
    this.lineBytes = 0;
  }
}
