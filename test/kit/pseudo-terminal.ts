import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import xterm from '@xterm/headless';
import { exitOf, killAfterTest, type Exit } from './processes.js';
import { tempDir } from './temp-dir.js';
import { until } from './until.js';

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** Longer than the time between two writes of one update. */
const STEADY_MS = 250;
/** A few frames. This is enough where the expected screen is known. */
const STAY_MS = 60;

const KEYS = {
  up: '\x1b[A',
  down: '\x1b[B',
  right: '\x1b[C',
  left: '\x1b[D',
  enter: '\r',
  escape: '\x1b',
  tab: '\t',
  backspace: '\x7f',
  pagedown: '\x1b[6~',
} as const;

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** Waits until the condition has held for `ms` without interruption. */
function lasts(what: string, ms: number, condition: () => boolean): Promise<unknown> {
  let since = performance.now();
  return until(what, () => {
    if (!condition()) since = performance.now();
    return performance.now() - since > ms;
  });
}

/** Runs a program on a pseudo-terminal, created by script(1) of util-linux. xterm renders its output as a user sees it. */
export class PseudoTerminal {
  readonly exited: Promise<Exit>;
  /** All output so far. */
  raw = '';
  private readonly screen: InstanceType<typeof xterm.Terminal>;

  private constructor(
    private readonly child: ChildProcess,
    private readonly deviceFile: string,
    { columns, rows }: TerminalSize,
  ) {
    this.screen = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
    this.exited = exitOf(child);
    killAfterTest(child, this.exited);
    child.stdout!.on('data', (chunk: Buffer) => {
      this.raw += chunk.toString();
      this.screen.write(chunk);
    });
  }

  static run(command: readonly string[], size: TerminalSize, env: NodeJS.ProcessEnv = {}): PseudoTerminal {
    const deviceFile = join(tempDir(), 'tty');
    const line = [
      `stty rows ${size.rows} cols ${size.columns}`,
      `tty > ${quoted(deviceFile)}`,
      `exec ${command.map(quoted).join(' ')}`,
    ].join(' && ');
    const { PATH, HOME } = process.env;
    const child = spawn('script', ['--quiet', '--flush', '--return', '--command', line, '/dev/null'], {
      env: { PATH, HOME, SHELL: '/bin/sh', TERM: 'xterm-256color', LANG: 'C.UTF-8', ...env },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    child.once('error', (cause) => {
      throw new Error('this test needs script(1) of util-linux', { cause });
    });
    return new PseudoTerminal(child, deviceFile, size);
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** The rows of the current screen. */
  get lines(): string[] {
    const { active } = this.screen.buffer;
    return Array.from({ length: this.screen.rows }, (_, row) =>
      (active.getLine(active.baseY + row)?.translateToString(true) ?? '').trimEnd(),
    );
  }

  get text(): string {
    return this.lines.join('\n');
  }

  /** Whether the program uses the alternate screen. */
  get isAlternate(): boolean {
    return this.screen.buffer.active.type === 'alternate';
  }

  /** The underlined words on the screen. */
  get underlined(): string[] {
    const { active } = this.screen.buffer;
    return Array.from({ length: this.screen.rows }, (_, row) => {
      const line = active.getLine(active.baseY + row);
      const cells = Array.from({ length: this.screen.cols }, (_cell, column) => line?.getCell(column));
      return cells.map((cell) => (cell?.isUnderline() ? cell.getChars() : ' ')).join('');
    }).flatMap((line) => line.split(/\s+/).filter(Boolean));
  }

  type(text: string): void {
    this.child.stdin!.write(text);
  }

  press(...keys: readonly (keyof typeof KEYS)[]): void {
    for (const key of keys) this.type(KEYS[key]);
  }

  async shows(wanted: string | RegExp, timeoutMs?: number): Promise<void> {
    const isShown = (): boolean =>
      typeof wanted === 'string' ? this.text.includes(wanted) : wanted.test(this.text);
    await until(`the screen shows ${String(wanted)}`, isShown, timeoutMs).catch((error: Error) => {
      throw new Error(`${error.message}; it shows\n${this.text}`);
    });
  }

  async hides(gone: string): Promise<void> {
    await until(`the screen no longer shows ${gone}`, () => !this.text.includes(gone)).catch(
      (error: Error) => {
        throw new Error(`${error.message}; it shows\n${this.text}`);
      },
    );
  }

  /** The screen after it did not change for a while. */
  async steady(): Promise<string[]> {
    let before = '';
    await lasts('the screen is steady', STEADY_MS, () => {
      const isSame = this.text === before;
      before = this.text;
      return isSame;
    });
    return this.lines;
  }

  /** Waits until the screen meets the condition for a few frames. */
  stays(what: string, isWanted: (lines: readonly string[]) => boolean): Promise<unknown> {
    return lasts(`the screen is and stays ${what}`, STAY_MS, () => isWanted(this.lines));
  }

  /** Resizes the pseudo-terminal, which sends SIGWINCH. */
  resize({ columns, rows }: TerminalSize): void {
    const device = readFileSync(this.deviceFile, 'utf8').trim();
    this.screen.resize(columns, rows);
    execFileSync('stty', ['-F', device, 'rows', String(rows), 'cols', String(columns)]);
  }
}
