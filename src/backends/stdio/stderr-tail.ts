const LF = 0x0a;
const CR = 0x0d;
/** Longer lines are cut. */
const MAX_LINE_BYTES = 4 * 1024;
const MAX_LINES = 1_000;
/** Maximum characters of all lines together. */
const MAX_CHARACTERS = 64 * 1024;

/** The last lines that a child wrote to stderr. All output is read, so that the child never blocks on a full pipe. */
export class StderrTail {
  private readonly finishedLines: string[] = [];
  /** Length of `finishedLines` together. */
  private characters = 0;
  /** The unfinished line is in the first `lineBytes` of this buffer. */
  private readonly lineBuffer = Buffer.allocUnsafeSlow(MAX_LINE_BYTES);
  private lineBytes = 0;
  /** The result of `lines`; undefined after further output. */
  private cached: readonly string[] | undefined;

  push(chunk: Buffer): void {
    this.cached = undefined;
    let start = startOfKept(chunk);
    // The unfinished line before the chunk is not kept either.
    if (start > 0) this.lineBytes = 0;
    for (let end = chunk.indexOf(LF, start); end !== -1; end = chunk.indexOf(LF, start)) {
      this.append(chunk, start, end);
      this.finishLine();
      start = end + 1;
      while (chunk[start] === LF) start++;
    }
    this.append(chunk, start, chunk.length);
  }

  /** Oldest first; the last line may be unfinished. Returns the same array until more output arrives. */
  lines(): readonly string[] {
    if (this.cached) return this.cached;
    const unfinished = this.lineBytes === 0 ? [] : [this.unfinishedLine()];
    this.cached = [...this.finishedLines, ...unfinished];
    return this.cached;
  }

  /** Truncates a long line, because `copy` stops at the end of the buffer. */
  private append(chunk: Buffer, start: number, end: number): void {
    this.lineBytes += chunk.copy(this.lineBuffer, this.lineBytes, start, end);
  }

  private unfinishedLine(): string {
    const end = this.lineBuffer[this.lineBytes - 1] === CR ? this.lineBytes - 1 : this.lineBytes;
    return this.lineBuffer.toString('utf8', 0, end);
  }

  private finishLine(): void {
    const line = this.unfinishedLine();
    this.lineBytes = 0;
    if (line === '') return;
    this.finishedLines.push(line);
    this.characters += line.length;
    while (this.characters > MAX_CHARACTERS || this.finishedLines.length > MAX_LINES)
      this.characters -= this.finishedLines.shift()?.length ?? 0;
  }
}

/** Where the last `MAX_LINES` lines of the chunk begin. Those before them would be dropped again at once. */
function startOfKept(chunk: Buffer): number {
  let at = chunk.length;
  for (let lines = 0; lines <= MAX_LINES; lines++) {
    while (chunk[at - 1] === LF) at--;
    if (at === 0) return 0;
    at = chunk.lastIndexOf(LF, at - 1) + 1;
    if (at === 0) return 0;
  }
  return at;
}
