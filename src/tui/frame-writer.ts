import { EventEmitter } from 'node:events';

const CLEAR_SCREEN = '\x1b[2J';
/** Clears from the cursor to the end of the line. */
const CLEAR_LINE = '\x1b[K';
/** Ends all colours and styles. */
const RESET = '\x1b[0m';
/** Switches to the alternate screen, hides the cursor and clears the screen. */
const ENTER = `\x1b[?1049h\x1b[?25l${CLEAR_SCREEN}`;
/** Shows the cursor and switches back to the normal screen. */
const LEAVE = '\x1b[?25h\x1b[?1049l';
/** Begin and end of a synchronized update. Terminals that support it show everything in between at once. */
const BEGIN_UPDATE = '\x1b[?2026h';
const END_UPDATE = '\x1b[?2026l';
const startOfRow = (row: number): string => `\x1b[${row + 1};1H`;

const FRAME_INTERVAL_MS = 16;

interface Terminal extends NodeJS.EventEmitter {
  readonly columns: number;
  readonly rows: number;
  write(text: string): unknown;
}

/**
 * The stream to which Ink writes its frames. It sends the terminal only the rows that have changed, each at its absolute
 * position. With the terminal as its stream, Ink would clear and rewrite the whole screen for every frame that is
 * as high as the terminal, even with `incrementalRendering`.
 */
export class FrameWriter extends EventEmitter {
  /** The rows that the terminal shows. */
  private shownRows: readonly string[] = [];
  /** The last frame that Ink has written. */
  private lastFrame: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isOpen = false;
  private readonly onResize = (): void => {
    // The terminal may have wrapped or moved the rows of the previous frame.
    this.shownRows = [];
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

  /** Shows a whole frame. Of several frames within one interval, only the last is shown. */
  write(frame: string): boolean {
    this.lastFrame = frame;
    this.timer ??= setTimeout(() => this.flush(), FRAME_INTERVAL_MS);
    return true;
  }

  private flush(): void {
    this.timer = undefined;
    if (!this.isOpen || this.lastFrame === undefined) return;
    const rows = this.lastFrame.split('\n').slice(0, this.rows);
    const count = Math.max(rows.length, this.shownRows.length);
    const changed = Array.from({ length: count }, (_, index) => index).filter(
      (index) => rows[index] !== this.shownRows[index],
    );
    this.shownRows = rows;
    if (changed.length === 0) return;
    const updates = changed.map((index) => `${startOfRow(index)}${RESET}${CLEAR_LINE}${rows[index] ?? ''}`);
    this.terminal.write(`${BEGIN_UPDATE}${updates.join('')}${RESET}${END_UPDATE}`);
  }
}
