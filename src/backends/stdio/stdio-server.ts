/** How to start a server that is a child process and speaks over its stdin and stdout. */
export interface StdioServer {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Added to what every child inherits, and stronger than it. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
}

/** What one child may cost, and how long it is given. */
export interface StdioLimits {
  /** The longest line it may write; beyond that it is killed. */
  readonly maxLineBytes: number;
  /** How much may wait for it to read; beyond that sending fails at once. */
  readonly maxQueuedMessages: number;
  readonly maxQueuedBytes: number;
  /** How long it may leave a write untaken before it is killed. */
  readonly writeTimeoutMs: number;
  /** From the end of its stdin to SIGTERM. */
  readonly stopGraceMs: number;
  /** From SIGTERM to SIGKILL. */
  readonly killGraceMs: number;
}

export const STDIO_LIMITS: StdioLimits = {
  maxLineBytes: 8 * 1024 * 1024,
  maxQueuedMessages: 256,
  maxQueuedBytes: 8 * 1024 * 1024,
  writeTimeoutMs: 10_000,
  stopGraceMs: 2_000,
  killGraceMs: 3_000,
};
