import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isNativeError } from 'node:util/types';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { TransportError, type LinkTransport, type MessageExtra } from '../link/transport.js';
import { childEnvironment } from './child-environment.js';
import { MessageReader } from './message-reader.js';
import { ProcessGroup } from './process-group.js';
import { spawnError } from './spawn-error.js';
import { StderrTail } from './stderr-tail.js';
import { StdinQueue } from './stdin-queue.js';
import { STDIO_LIMITS, type StdioLimits, type StdioServer } from './stdio-server.js';
import { completesWithin } from '../../lib/deadlines/timeout.js';

/** How long output that a dead child left in its pipes is waited for, and its exit once it has closed one. */
const LAST_WORDS_MS = 100;

const LONG_TURN_MS = 2;

/** Everything there is while there is a process. */
interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly group: ProcessGroup;
  readonly stdin: StdinQueue;
  /** Every process that held the pipes is gone, and all they wrote was read. */
  readonly pipesClosed: Promise<void>;
}

/**
 * A link to a server that is our child. `onclose` comes once for every start that succeeded, after the last message
 * and when the whole process group is gone. Where nobody asked for it, a TransportError in `onerror` comes right
 * before and says why; any other error there leaves the link as it is.
 */
export class StdioTransport implements LinkTransport {
  onmessage?: ((message: JSONRPCMessage, received?: MessageExtra) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  onstderr?: ((line: string) => void) | undefined;

  private readonly limits: StdioLimits;
  private readonly reader: MessageReader;
  private readonly tail = new StderrTail((line) => this.guarded(() => this.onstderr?.(line)));
  private started = false;
  private running: Running | undefined;
  private fault: TransportError | undefined;
  private exit: string | undefined;
  private closing: Promise<void> | undefined;
  private finished = false;

  constructor(
    private readonly server: StdioServer,
    limits: Partial<StdioLimits> = {},
  ) {
    this.limits = { ...STDIO_LIMITS, ...limits };
    this.reader = new MessageReader(
      this.limits.maxLineBytes,
      (message, text) => this.onmessage?.(message, { text }),
      (error) => this.report(error),
    );
  }

  get pid(): number | undefined {
    return this.exit === undefined ? this.running?.group.pid : undefined;
  }

  /** Why there is no process any more: `exited with code 1`, `killed by SIGKILL`, `line over 8388608 bytes`. */
  get exitReason(): string | undefined {
    return this.fault?.message ?? this.exit;
  }

  /** Lines on stdout that were no messages. */
  get ignoredLines(): number {
    return this.reader.ignoredLines;
  }

  stderrTail(): readonly string[] {
    return this.tail.lines();
  }

  async start(): Promise<void> {
    if (this.started || this.closing) throw new TransportError('unreachable', 'a StdioTransport starts once');
    this.started = true;
    try {
      const child = this.spawn();
      if (child.pid !== undefined) this.running = this.adopt(child, child.pid);
      await once(child, 'spawn');
    } catch (cause) {
      throw spawnError(this.server, cause);
    }
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.sendText(JSON.stringify(message));
  }

  /** Resolves when the kernel has the text, which is as far as anybody can know. */
  sendText(text: string): Promise<void> {
    if (!this.running) return Promise.reject(new TransportError('unreachable', 'not started'));
    return this.running.stdin.push(text);
  }

  /** Ends stdin, then SIGTERM, then SIGKILL. Resolves when no process of the group is left. */
  close(): Promise<void> {
    return (this.closing ??= this.stop());
  }

  /** For an emergency exit of the gateway, which has no time to wait. */
  killNow(): void {
    this.running?.group.signal('SIGKILL');
  }

  private spawn(): ChildProcessWithoutNullStreams {
    const { command, args = [], env, cwd } = this.server;
    return spawn(command, args, {
      cwd,
      env: childEnvironment(env),
      stdio: 'pipe',
      shell: false,
      // Makes it the leader of a process group of its own.
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
  }

  private adopt(child: ChildProcessWithoutNullStreams, pid: number): Running {
    const group = new ProcessGroup(child, pid);
    const stdin = new StdinQueue(child.stdin, this.limits, {
      stuck: () => this.fail('busy', `did not read its stdin for ${this.limits.writeTimeoutMs} ms`),
      broken: () => void this.hangUp('closed its stdin'),
    });
    child.stdout.on('data', (chunk: Buffer) => this.read(child.stdout, chunk));
    child.stdout.once('end', () => void this.hangUp('closed its stdout'));
    child.stdout.on('error', () => void this.hangUp('closed its stdout'));
    child.stderr.on('data', (chunk: Buffer) => this.tail.push(chunk));
    child.stderr.on('error', (error) => this.report(error));
    child.on('error', (error) => this.report(error));
    child.once('exit', (code, signal) => void this.bury(code, signal));
    const pipesClosed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    return { child, group, stdin, pipesClosed };
  }

  private read(stdout: Readable, chunk: Buffer): void {
    const began = performance.now();
    if (!this.reader.push(chunk)) {
      stdout.destroy();
      this.fail('too-large', `line over ${this.limits.maxLineBytes} bytes`);
    } else if (performance.now() - began > LONG_TURN_MS) {
      // libuv reads up to 32 chunks of a flood before anybody else has a turn.
      stdout.pause();
      setImmediate(() => stdout.resume());
    }
  }

  /** The leader exited. Not waiting for its pipes to close first: a process it left behind may hold them. */
  private async bury(code: number | null, signal: NodeJS.Signals | null): Promise<void> {
    this.exit = signal === null ? `exited with code ${code}` : `killed by ${signal}`;
    this.running?.stdin.fail(this.exitReason ?? this.exit, 'unreachable');
    if (!this.closing) await this.reap();
  }

  /** A child that closed one of its pipes cannot answer any more. Mostly it is just about to exit. */
  private async hangUp(why: string): Promise<void> {
    const exits = !this.running || (await completesWithin(this.running.group.leaderExit, LAST_WORDS_MS));
    if (exits || this.closing || this.fault) return;
    this.fault = new TransportError('broken', why);
    await this.close();
  }

  private fail(fault: 'too-large' | 'busy', why: string): void {
    if (!this.running || this.fault) return;
    this.fault = new TransportError(fault, why);
    this.running.stdin.fail(why, fault === 'busy' ? 'busy' : 'unreachable');
    void this.reap();
  }

  private async reap(): Promise<void> {
    await this.running?.group.kill();
    await this.lastWords();
    this.finish();
  }

  private async stop(): Promise<void> {
    if (!this.running) return;
    this.running.stdin.end('closed');
    await this.running.group.stop(this.limits.stopGraceMs, this.limits.killGraceMs);
    await this.lastWords();
    this.finish();
  }

  private async lastWords(): Promise<void> {
    if (!this.running || (await completesWithin(this.running.pipesClosed, LAST_WORDS_MS))) return;
    // In a late turn of the event loop timers come before input that is already there.
    await nextTurn();
  }

  private finish(): void {
    if (!this.running || this.finished) return;
    this.finished = true;
    const { child, stdin } = this.running;
    stdin.fail(this.exitReason ?? 'closed', 'unreachable');
    child.stdout.destroy();
    child.stderr.destroy();
    // Only matters for a process that even SIGKILL did not end.
    child.unref();
    this.reader.clear();
    if (!this.closing) this.fault ??= new TransportError('broken', this.exit ?? 'lost');
    if (this.fault) this.report(this.fault);
    this.guarded(() => this.onclose?.());
  }

  private guarded(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.report(error);
    }
  }

  private report(error: unknown): void {
    try {
      this.onerror?.(isNativeError(error) ? error : new Error(String(error)));
    } catch {
      // Whoever listens for errors has none to tell.
    }
  }
}
