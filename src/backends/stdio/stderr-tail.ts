const LF = 0x0a;
const CR = 0x0d;
const MAX_LINE_BYTES = 4 * 1024;
const MAX_LINES = 1_000;
const MAX_CHARACTERS = 64 * 1024;

/** The last lines that a child wrote to stderr. All output is read, so that the child never blocks on a full pipe. */
export class StderrTail {
  private readonly kept: string[] = [];
  private characters = 0;
  private readonly line = Buffer.allocUnsafeSlow(MAX_LINE_BYTES);
  private used = 0;
  private cached: readonly string[] | undefined;

  push(chunk: Buffer): void {
    this.cached = undefined;
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.append(chunk, start, end);
      this.finishLine();
      start = end + 1;
    }
    this.append(chunk, start, chunk.length);
  }

  /** Oldest first; the last line may be unfinished. Returns the same array until more output arrives. */
  lines(): readonly string[] {
    return (this.cached ??= this.used === 0 ? [...this.kept] : [...this.kept, this.unfinished()]);
  }

  /** Truncates a long line, because `copy` stops at the end of the buffer. */
  private append(chunk: Buffer, start: number, end: number): void {
    this.used += chunk.copy(this.line, this.used, start, end);
  }

  private unfinished(): string {
    const end = this.line[this.used - 1] === CR ? this.used - 1 : this.used;
    return this.line.toString('utf8', 0, end);
  }

  private finishLine(): void {
    const line = this.unfinished();
    this.used = 0;
    if (line === '') return;
    this.kept.push(line);
    this.characters += line.length;
    while (this.characters > MAX_CHARACTERS || this.kept.length > MAX_LINES) {
      this.characters -= this.kept.shift()?.length ?? 0;
    }
  }
}
