import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { isNativeError } from 'node:util/types';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { JsonProblem } from '../../lib/json-text/json-reader.js';
import {
  TransportError,
  type InboundGate,
  type LinkTransport,
  type MessageExtra,
} from '../link/transport.js';
import { childEnvironment } from './child-environment.js';
import { MessageReader } from './message-reader.js';
import { ProcessGroup } from './process-group.js';
import { spawnError } from './spawn-error.js';
import { StderrReader } from './stderr-reader.js';
import { StderrTail } from './stderr-tail.js';
import { StdinQueue } from './stdin-queue.js';
import { STDIO_LIMITS, type StdioLimits, type StdioServer } from './stdio-server.js';
import { completesWithin } from '../../lib/deadlines/timeout.js';

/** How long to wait for the remaining output of a child that has exited. */
const OUTPUT_TIMEOUT_MS = 100;
/**
 * How long to wait for the exit of a child that has closed a pipe. If it exits in time, the exit status is reported as the
 * cause, because it says more than the closed pipe.
 */
const EXIT_TIMEOUT_MS = 500;

/** When reading takes longer than this, stdout pauses until the next iteration of the event loop. */
const MAX_READ_MS = 2;

interface RunningChild {
  readonly child: ChildProcessWithoutNullStreams;
  readonly group: ProcessGroup;
  readonly stdin: StdinQueue;
  /** Resolves when all processes that held the pipes have exited, and their output was read. */
  readonly pipesClosed: Promise<void>;
}

/**
 * The stdio transport: starts a server as a child process, and exchanges messages over its stdin and stdout. After a
 * successful start, `onclose` is called once: after the last message, when the whole process group has exited. If `close` was
 * not called, `onerror` is called with a TransportError right before `onclose`. After any other call of `onerror` the
 * transport stays open.
 */
export class StdioTransport implements LinkTransport {
  onmessage?: ((message: JSONRPCMessage, extra?: MessageExtra) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  onrefused?: ((problem: JsonProblem) => void) | undefined;
  inbound?: InboundGate | undefined;

  private readonly limits: StdioLimits;
  private readonly reader: MessageReader;
  private readonly tail = new StderrTail();
  private isStarted = false;
  private running: RunningChild | undefined;
  /** Why the transport closes, unless `close` was called. */
  private failure: TransportError | undefined;
  /** How the child exited; undefined while it runs. */
  private exitStatus: string | undefined;
  private closing: Promise<void> | undefined;
  private isFinished = false;

  constructor(
    private readonly server: StdioServer,
    limits: Partial<StdioLimits> = {},
  ) {
    this.limits = { ...STDIO_LIMITS, ...limits };
    this.reader = new MessageReader(this.limits.maxLineBytes, {
      inbound: () => this.inbound,
      onMessage: (message, document) => this.onmessage?.(message, { document }),
      onRefused: (problem) => this.callListener(() => this.onrefused?.(problem)),
      report: (error) => this.report(error),
    });
  }

  get pid(): number | undefined {
    return this.exitStatus === undefined ? this.running?.group.pid : undefined;
  }

  /** Why the process ended, such as `exited with code 1`, `killed by SIGKILL` or `line over 8388608 bytes`. */
  get exitReason(): string | undefined {
    return this.failure?.message ?? this.exitStatus;
  }

  /** Lines on stdout that were not messages. */
  get ignoredLines(): number {
    return this.reader.ignoredLines;
  }

  stderrTail(): readonly string[] {
    return this.tail.lines();
  }

  async start(): Promise<void> {
    if (this.isStarted || this.closing)
      throw new TransportError('unreachable', 'a StdioTransport starts once');
    this.isStarted = true;
    try {
      const child = this.spawn();
      if (child.pid !== undefined) this.running = this.attach(child, child.pid);
      await once(child, 'spawn');
    } catch (cause) {
      throw spawnError(this.server, cause);
    }
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.sendText(JSON.stringify(message));
  }

  /** Resolves when the kernel has accepted the text. The child may not have read it then. */
  sendText(text: string): Promise<void> {
    if (!this.running) return Promise.reject(new TransportError('unreachable', 'not started'));
    return this.running.stdin.push(text);
  }

  /** Ends stdin, then sends SIGTERM, then SIGKILL. Resolves when no process of the group runs. */
  close(): Promise<void> {
    return (this.closing ??= this.stop());
  }

  private spawn(): ChildProcessWithoutNullStreams {
    const { command, args = [], env, cwd } = this.server;
    return spawn(command, args, {
      cwd,
      env: childEnvironment(env),
      stdio: 'pipe',
      shell: false,
      // Makes the child the leader of its own process group.
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
  }

  private attach(child: ChildProcessWithoutNullStreams, pid: number): RunningChild {
    const group = new ProcessGroup(child, pid);
    const stdin = new StdinQueue(child.stdin, this.limits, {
      blocked: () => this.fail('busy', `did not read its stdin for ${this.limits.writeTimeoutMs} ms`),
      broken: () => void this.closeUnlessExiting('closed its stdin'),
    });
    child.stdout.on('data', (chunk: Buffer) => this.read(child.stdout, chunk));
    child.stdout.once('end', () => void this.closeUnlessExiting('closed its stdout'));
    child.stdout.on('error', () => void this.closeUnlessExiting('closed its stdout'));
    void new StderrReader(child.stderr, this.tail);
    child.stderr.on('error', (error) => this.report(error));
    child.on('error', (error) => this.report(error));
    child.once('exit', (code, signal) => void this.handleExit(code, signal));
    const pipesClosed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    return { child, group, stdin, pipesClosed };
  }

  private read(stdout: Readable, chunk: Buffer): void {
    const startedAt = performance.now();
    if (!this.reader.push(chunk)) {
      stdout.destroy();
      this.fail('too-large', `line over ${this.limits.maxLineBytes} bytes`);
      return;
    }
    const readMs = performance.now() - startedAt;
    const pauseMs = this.inbound?.pauseAfter(readMs) ?? 0;
    if (pauseMs === 0 && readMs <= MAX_READ_MS) return;
    // Without a pause, libuv reads up to 32 chunks in one iteration of the event loop.
    stdout.pause();
    if (pauseMs === 0) return void setImmediate(() => stdout.resume());
    this.inbound?.expectMessagesSince(startedAt);
    setTimeout(() => stdout.resume(), pauseMs).unref();
  }

  /** Does not wait until the pipes close: a descendant of the exited child may hold them open. */
  private async handleExit(code: number | null, signal: NodeJS.Signals | null): Promise<void> {
    this.exitStatus = signal === null ? `exited with code ${code}` : `killed by ${signal}`;
    this.running?.stdin.fail(this.exitReason ?? this.exitStatus, 'unreachable');
    if (!this.closing) await this.killAndFinish();
  }

  /**
   * Called when the child has closed its stdin or stdout. Further requests get no response. Usually the child exits right after
   * that.
   */
  private async closeUnlessExiting(why: string): Promise<void> {
    const isExiting =
      !this.running || (await completesWithin(this.running.group.leaderExit, EXIT_TIMEOUT_MS));
    if (isExiting || this.closing || this.failure) return;
    this.failure = new TransportError('broken', why, { hasExited: true });
    await this.close();
  }

  /** Kills the child, because it has written too long a line, or does not read its stdin. */
  private fail(fault: 'too-large' | 'busy', why: string): void {
    if (!this.running || this.failure) return;
    const isTooLarge = fault === 'too-large';
    this.failure = new TransportError(fault, why, { isUnread: isTooLarge, hasExited: isTooLarge });
    this.running.stdin.fail(why, fault === 'busy' ? 'busy' : 'unreachable');
    void this.killAndFinish();
  }

  private async killAndFinish(): Promise<void> {
    await this.running?.group.kill();
    await this.readRemainingOutput();
    this.finish();
  }

  private async stop(): Promise<void> {
    if (!this.running) return;
    this.running.stdin.end(this.failure?.message ?? 'closed');
    await this.running.group.stop(this.limits.stopGraceMs, this.limits.killGraceMs);
    await this.readRemainingOutput();
    this.finish();
  }

  /** Waits until the remaining output of the child was read, for at most `OUTPUT_TIMEOUT_MS`. */
  private async readRemainingOutput(): Promise<void> {
    if (!this.running || (await completesWithin(this.running.pipesClosed, OUTPUT_TIMEOUT_MS))) return;
    // If the event loop is late, the timeout ends before the loop has read output that has already arrived.
    await nextIteration();
  }

  private finish(): void {
    if (!this.running || this.isFinished) return;
    this.isFinished = true;
    const { child, stdin } = this.running;
    stdin.fail(this.exitReason ?? 'closed', 'unreachable');
    child.stdout.destroy();
    child.stderr.destroy();
    // A process that did not end on SIGKILL must not keep the gateway running.
    child.unref();
    this.reader.clear();
    if (!this.closing)
      this.failure ??= new TransportError('broken', this.exitStatus ?? 'lost', { hasExited: true });
    if (this.failure) this.report(this.failure);
    this.callListener(() => this.onclose?.());
  }

  private callListener(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.report(error);
    }
  }

  private report(error: unknown): void {
    try {
      this.onerror?.(isNativeError(error) ? error : new Error(String(error)));
    } catch {
      // There is no other place to report the failure of `onerror`.
    }
  }
}
