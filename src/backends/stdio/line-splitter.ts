const LF = 0x0a;
const MAX_LOOSE_PIECES = 1024;

/** Receives one line without its newline, as a range of bytes. */
type LineReader = (bytes: Buffer, start: number, end: number) => void;

/** Splits chunks into lines. Keeps only the pieces of an unfinished line, and joins them once. */
export class LineSplitter {
  private pieces: Buffer[] = [];
  private heldBytes = 0;
  private joined = 0;

  constructor(
    private readonly maxLineBytes: number,
    private readonly onLine: LineReader,
  ) {}

  /** False when a line is over the size limit; then nothing of it is kept. */
  push(chunk: Buffer): boolean {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      if (this.heldBytes + end - start > this.maxLineBytes) return this.reject();
      this.finish(chunk, start, end);
      start = end + 1;
    }
    if (this.heldBytes + chunk.length - start > this.maxLineBytes) return this.reject();
    if (start < chunk.length) this.hold(chunk.subarray(start));
    return true;
  }

  /** Drops the unfinished line. */
  clear(): void {
    this.pieces = [];
    this.heldBytes = 0;
    this.joined = 0;
  }

  private reject(): false {
    this.clear();
    return false;
  }

  private finish(chunk: Buffer, start: number, end: number): void {
    if (this.heldBytes === 0) return this.onLine(chunk, start, end);
    this.pieces.push(chunk.subarray(start, end));
    const line = Buffer.concat(this.pieces);
    this.clear();
    this.onLine(line, 0, line.length);
  }

  private hold(piece: Buffer): void {
    this.pieces.push(piece);
    this.heldBytes += piece.length;
    if (this.pieces.length - this.joined < MAX_LOOSE_PIECES) return;
    // Buffer objects of single bytes would take a hundred times the memory of the line.
    this.pieces.push(Buffer.concat(this.pieces.splice(this.joined)));
    this.joined = this.pieces.length;
  }
}
