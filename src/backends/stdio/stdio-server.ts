/** How to start a server that is a child process with MCP on its stdin and stdout. */
export interface StdioServer {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Added to the inherited variables, and preferred over them. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
}

export interface StdioLimits {
  /** A child that writes a longer line is killed. */
  readonly maxLineBytes: number;
  /** Messages and bytes that may wait until the child reads; beyond that sending fails at once. */
  readonly maxQueuedMessages: number;
  readonly maxQueuedBytes: number;
  /** A child that does not read for this long while a write is blocked is killed. */
  readonly writeTimeoutMs: number;
  /** Time from the end of its stdin to SIGTERM. */
  readonly stopGraceMs: number;
  /** Time from SIGTERM to SIGKILL. */
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
