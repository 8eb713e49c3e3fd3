const LF = 0x0a;
const LOOSE_PIECES = 1024;

/** Gets one line without its newline, as a range of bytes. */
export type LineReader = (bytes: Buffer, start: number, end: number) => void;

/** Cuts a stream of chunks into lines. Only the pieces of an unfinished line are kept, and joined once. */
export class LineSplitter {
  private pieces: Buffer[] = [];
  private heldBytes = 0;
  private joined = 0;

  constructor(
    private readonly maxLineBytes: number,
    private readonly onLine: LineReader,
  ) {}

  /** False when a line is longer than the cap; nothing of it is kept. */
  push(chunk: Buffer): boolean {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      if (this.heldBytes + end - start > this.maxLineBytes) return this.refuse();
      this.finish(chunk, start, end);
      start = end + 1;
    }
    if (this.heldBytes + chunk.length - start > this.maxLineBytes) return this.refuse();
    if (start < chunk.length) this.hold(chunk.subarray(start));
    return true;
  }

  /** Forgets the unfinished line. */
  clear(): void {
    this.pieces = [];
    this.heldBytes = 0;
    this.joined = 0;
  }

  private refuse(): false {
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
    if (this.pieces.length - this.joined < LOOSE_PIECES) return;
    // A child that writes byte by byte would cost a hundred times its line in Buffer objects.
    this.pieces.push(Buffer.concat(this.pieces.splice(this.joined)));
    this.joined = this.pieces.length;
  }
}
