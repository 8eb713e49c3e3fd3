const LF = 0x0a;
/** Pieces beyond this number are joined: a Buffer object for each byte would take a hundred times the memory. */
const MAX_UNJOINED_PIECES = 1024;

/** Receives one line without its newline, as a range of bytes. */
type LineReader = (bytes: Buffer, start: number, end: number) => void;

/** Splits chunks into lines. Keeps only the pieces of an unfinished line. */
export class LineSplitter {
  private pieces: Buffer[] = [];
  private heldBytes = 0;
  /** How many elements of `pieces` are joined already. */
  private joinedPieces = 0;

  constructor(
    private readonly maxLineBytes: number,
    private readonly onLine: LineReader,
  ) {}

  /** Returns false, and drops the line, when a line is over the size limit. */
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
    this.joinedPieces = 0;
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
    if (this.pieces.length - this.joinedPieces < MAX_UNJOINED_PIECES) return;
    this.pieces.push(Buffer.concat(this.pieces.splice(this.joinedPieces)));
    this.joinedPieces = this.pieces.length;
  }
}
