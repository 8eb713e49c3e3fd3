/** How to start a server as a child process that speaks MCP on its stdin and stdout. */
export interface StdioServer {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Environment variables, which take precedence over inherited ones. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
}

export interface StdioLimits {
  /** A child that writes a longer line is killed. */
  readonly maxLineBytes: number;
  /** Maximum messages that wait until the child reads. Sending a further message fails at once. */
  readonly maxQueuedMessages: number;
  /** Maximum bytes of these messages together. */
  readonly maxQueuedBytes: number;
  /** A child is killed when a write was blocked for this long. */
  readonly writeTimeoutMs: number;
  /** Time from the end of the child's stdin to SIGTERM. */
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
