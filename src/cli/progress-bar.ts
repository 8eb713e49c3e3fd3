import { printable } from '../client/printable.js';
import { truncateEnd } from '../client/terminal-text.js';

interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface ReportedProgress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

const WIDTH = 24;
const CLEAR = '\r\x1b[2K';

/** Shows reported progress in one line of a terminal; writes nothing to any other stream. */
export class ProgressBar {
  private shownLine = '';

  constructor(private readonly stream: Stream) {}

  update(reported: ReportedProgress): void {
    if (this.stream.isTTY !== true) return;
    const line = truncateEnd(lineOf(reported), (this.stream.columns ?? 80) - 1);
    if (line === this.shownLine) return;
    this.shownLine = line;
    this.stream.write(`${CLEAR}${line}`);
  }

  /** Clears the line. */
  end(): void {
    if (this.shownLine !== '') this.stream.write(CLEAR);
    this.shownLine = '';
  }
}

function lineOf({ progress, total, message }: ReportedProgress): string {
  const suffix = message === undefined ? '' : `  ${printable(message)}`;
  if (total === undefined || !(total > 0)) return `${rounded(progress)}${suffix}`;
  const share = Math.min(1, Math.max(0, progress / total));
  const filledWidth = Math.round(share * WIDTH);
  const bar = `${'█'.repeat(filledWidth)}${'░'.repeat(WIDTH - filledWidth)}`;
  return `${bar} ${String(Math.floor(share * 100)).padStart(3)}%  ${rounded(progress)}/${rounded(total)}${suffix}`;
}

const rounded = (value: number): string => String(Math.round(value * 100) / 100);
