import { EventEmitter } from 'node:events';

/** Other screen, no cursor. */
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[2J';
const LEAVE = '\x1b[?25h\x1b[?1049l';
/** A terminal that knows these shows all in between at once. */
const BEGIN = '\x1b[?2026h';
const END = '\x1b[?2026l';
const FRAME_MS = 16;

interface Terminal extends NodeJS.EventEmitter {
  readonly columns: number;
  readonly rows: number;
  write(text: string): unknown;
}

/**
 * Stands between Ink, which lays a frame out, and the terminal, where only the rows that changed are written, each to its
 * own place. Ink by itself erases and repeats everything, counting lines from where it believes the cursor to be.
 */
export class FrameWriter extends EventEmitter {
  private shown: readonly string[] = [];
  private waiting: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isOpen = false;
  private readonly resized = (): void => {
    // Whatever the terminal made of the old frame, nothing of it is where it was.
    this.shown = [];
    this.terminal.write('\x1b[2J');
    this.emit('resize');
  };

  constructor(private readonly terminal: Terminal) {
    super();
  }

  get columns(): number {
    return this.terminal.columns;
  }

  get rows(): number {
    return this.terminal.rows;
  }

  open(): void {
    this.isOpen = true;
    this.terminal.write(ENTER);
    this.terminal.on('resize', this.resized);
  }

  /** The shell gets its screen back as it was. Idempotent. */
  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    clearTimeout(this.timer);
    this.terminal.off('resize', this.resized);
    this.terminal.write(LEAVE);
  }

  /** Takes a whole frame. Many in a short time are one. */
  write(frame: string): boolean {
    this.waiting = frame;
    this.timer ??= setTimeout(() => this.show(), FRAME_MS);
    return true;
  }

  private show(): void {
    this.timer = undefined;
    if (!this.isOpen || this.waiting === undefined) return;
    const lines = this.waiting.split('\n').slice(0, this.rows);
    const count = Math.max(lines.length, this.shown.length);
    const changed = Array.from({ length: count }, (_, row) => row).filter(
      (row) => lines[row] !== this.shown[row],
    );
    this.shown = lines;
    if (changed.length === 0) return;
    const written = changed.map((row) => `\x1b[${row + 1};1H\x1b[0m\x1b[K${lines[row] ?? ''}`);
    this.terminal.write(`${BEGIN}${written.join('')}\x1b[0m${END}`);
  }
}
