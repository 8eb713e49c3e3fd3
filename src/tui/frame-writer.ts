import { EventEmitter } from 'node:events';

const CLEAR_SCREEN = '\x1b[2J';
/** Clears from the cursor to the end of the line. */
const CLEAR_LINE = '\x1b[K';
/** Ends all colours and styles. */
const RESET = '\x1b[0m';
/** Alternate screen, cursor hidden, cleared. */
const ENTER = `\x1b[?1049h\x1b[?25l${CLEAR_SCREEN}`;
/** Cursor shown, normal screen. */
const LEAVE = '\x1b[?25h\x1b[?1049l';
/** Synchronized update: terminals that support it show everything in between at once. */
const BEGIN = '\x1b[?2026h';
const END = '\x1b[?2026l';
const startOfRow = (row: number): string => `\x1b[${row + 1};1H`;

const FRAME_INTERVAL_MS = 16;

interface Terminal extends NodeJS.EventEmitter {
  readonly columns: number;
  readonly rows: number;
  write(text: string): unknown;
}

/**
 * Output stream of Ink that writes only changed rows to the terminal, each at its absolute position. Ink itself clears
 * and rewrites the whole screen for every frame if the output is as high as the terminal, even with
 * `incrementalRendering`.
 */
export class FrameWriter extends EventEmitter {
  private shown: readonly string[] = [];
  private pending: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isOpen = false;
  private readonly onResize = (): void => {
    // The terminal may have wrapped or moved the rows of the previous frame.
    this.shown = [];
    this.terminal.write(CLEAR_SCREEN);
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
    this.terminal.on('resize', this.onResize);
  }

  /** Restores the screen of the shell. Idempotent. */
  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    clearTimeout(this.timer);
    this.terminal.off('resize', this.onResize);
    this.terminal.write(LEAVE);
  }

  /** Takes a whole frame. Of several frames within one interval only the last is shown. */
  write(frame: string): boolean {
    this.pending = frame;
    this.timer ??= setTimeout(() => this.flush(), FRAME_INTERVAL_MS);
    return true;
  }

  private flush(): void {
    this.timer = undefined;
    if (!this.isOpen || this.pending === undefined) return;
    const lines = this.pending.split('\n').slice(0, this.rows);
    const count = Math.max(lines.length, this.shown.length);
    const changed = Array.from({ length: count }, (_, row) => row).filter(
      (row) => lines[row] !== this.shown[row],
    );
    this.shown = lines;
    if (changed.length === 0) return;
    const updates = changed.map((row) => `${startOfRow(row)}${RESET}${CLEAR_LINE}${lines[row] ?? ''}`);
    this.terminal.write(`${BEGIN}${updates.join('')}${RESET}${END}`);
  }
}
