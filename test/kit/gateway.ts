import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { exitOf, killAfterTest, type Exit } from './processes.js';
import { MAIN, NODE } from './program.js';
import { RawSession, type ListMember } from './raw-session.js';
import { tempDir } from './temp-dir.js';
import { until, within } from './until.js';

export interface LogEntry {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

export interface GatewayConfig {
  readonly mcpServers?: Readonly<Record<string, object>>;
  readonly [section: string]: unknown;
}

/** For each list, the servers that must have entries in it. */
type Listed = Readonly<Partial<Record<ListMember, readonly string[]>>>;

/** The built gateway as a process, reached through its config file and port. */
export class Gateway {
  readonly exited: Promise<Exit>;
  /** The JSON lines of stderr so far. */
  readonly logs: LogEntry[] = [];
  stdout = '';
  /** The other lines of stderr. */
  stderr = '';

  constructor(private readonly child: ChildProcess) {
    this.exited = exitOf(child);
    killAfterTest(child, this.exited);
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    createInterface({ input: child.stderr! }).on('line', (line) => this.readLog(line));
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** The endpoint, read from the line on stdout as a user or a script would. */
  get url(): string {
    const url = /(\S+)\n/.exec(this.stdout)?.[1];
    if (!url) throw new Error(`the gateway does not listen; output: ${this.stdout}${this.stderr}`);
    return url;
  }

  urlOf(path: string): string {
    return new URL(path, this.url).href;
  }

  /** The reading end of stdout. */
  get stdoutPipe(): Readable {
    return this.child.stdout!;
  }

  /** The reading end of stderr. */
  get stderrPipe(): Readable {
    return this.child.stderr!;
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  async listening(timeoutMs = 25_000): Promise<void> {
    await until('the gateway listens', () => this.stdout.includes('\n') || !this.isRunning, timeoutMs);
    if (!this.isRunning)
      throw new Error(`the gateway did not start: ${this.stderr || this.logs.at(-1)?.message}`);
  }

  /** Waits until these servers are in these lists. */
  async listed(wanted: Listed, headers: Record<string, string> = {}): Promise<void> {
    const session = await RawSession.open(this.url, { headers });
    for (const [member, servers] of Object.entries(wanted) as [ListMember, readonly string[]][])
      await until(`${member} of ${servers.join(', ')} are listed`, async () =>
        includesAll(await session.list(member), servers),
      );
    await session.end();
  }

  /** Waits for the first log entry with these fields, from the index `from` on. */
  logged(fields: Record<string, unknown>, from = 0, timeoutMs?: number): Promise<LogEntry> {
    const wanted = Object.entries(fields);
    const matches = (entry: LogEntry): boolean => wanted.every(([key, value]) => entry[key] === value);
    return until(
      `the log contains ${JSON.stringify(fields)}`,
      () => this.logs.slice(from).find(matches),
      timeoutMs,
    );
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Sends a signal, as an orchestrator does, and waits for the exit. */
  stop(signal: NodeJS.Signals = 'SIGTERM', timeoutMs?: number): Promise<Exit> {
    this.signal(signal);
    return within(`the gateway to exit after ${signal}`, this.exited, timeoutMs);
  }

  private readLog(line: string): void {
    try {
      this.logs.push(JSON.parse(line) as LogEntry);
    } catch {
      this.stderr += `${line}\n`;
    }
  }
}

const SERVER_MARK = 'io.gatehouse/server';

function includesAll(
  definitions: readonly { _meta?: Record<string, unknown> }[],
  servers: readonly string[],
) {
  const found = new Set(definitions.map(({ _meta }) => _meta?.[SERVER_MARK]));
  return servers.every((server) => found.has(server));
}

/** Starts the gateway without waiting until it listens, also for starts that are expected to fail. */
export function launchGateway(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  [command, ...first]: readonly [string, ...string[]] = [NODE],
): Gateway {
  const { PATH, HOME } = process.env;
  const child = spawn(command, [...first, MAIN, ...args], {
    env: { PATH, HOME, GATEHOUSE__HTTP__PORT: '0', GATEHOUSE__SHUTDOWN__ACCEPTMS: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return new Gateway(child);
}

/**
 * Writes a config to a new file. An object is completed by a state directory, and by `metaTools: false`, so that lists
 * contain only tools of servers.
 */
export function writeConfig(config: GatewayConfig | string): string {
  const dir = tempDir();
  const file = join(dir, 'gatehouse.json');
  const content =
    typeof config === 'string'
      ? config
      : JSON.stringify({ stateDir: join(dir, 'state'), metaTools: false, ...config });
  writeFileSync(file, content);
  return file;
}

/** Changes settings in a config that `writeConfig` wrote. */
export function rewriteConfig(file: string, changes: GatewayConfig): void {
  writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), ...changes }));
}

/** Starts a gateway and waits until it listens. Its servers may not be listed yet: see `listed`. */
export async function startGateway(config: GatewayConfig, env?: NodeJS.ProcessEnv): Promise<Gateway> {
  const gateway = launchGateway(['--config', writeConfig(config)], env);
  await gateway.listening();
  return gateway;
}
