import { Logger } from '@nestjs/common';
import { Backoff } from './backoff.js';
import { CrashHistory } from './crash-history.js';
import type { Link } from './link.js';
import { TransportError } from './transport.js';

/**
 * - `connecting`: being started, nothing to call yet
 * - `ready`: linked
 * - `retrying`: lost or never reached; the next attempt comes after a pause
 * - `crash-loop`: lost five times within a minute; attempts go on, far apart
 * - `stopped`: disabled or shutting down
 */
export type LinkState = 'connecting' | 'ready' | 'retrying' | 'crash-loop' | 'stopped';

const LOOP_PAUSE_MS = 30_000;
/** A link that lived this long was no part of the trouble before it. */
const STABLE_MS = 10_000;

/** Keeps one link up: connects, waits for its end, pauses, connects again, until it is stopped. */
export class Supervisor {
  private readonly logger: Logger;
  private readonly backoff = new Backoff();
  private readonly crashes = new CrashHistory();
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private current: Link | undefined;
  private wake: () => void = () => {};
  private waiters: { resolve: (link: Link) => void; reject: (error: Error) => void }[] = [];
  private links = 0;
  state: LinkState = 'stopped';
  /** Why there is no link; the last thing that went wrong. */
  reason: Error | undefined;
  /** When the state was entered, in milliseconds of the epoch. */
  since = Date.now();

  constructor(
    private readonly server: string,
    private readonly connect: (signal: AbortSignal) => Promise<Link>,
    private readonly onLink: (link: Link) => void,
    private readonly onLost: (reason: Error) => void,
  ) {
    this.logger = new Logger('Backend');
  }

  /** The link in use; undefined while there is none. */
  get link(): Link | undefined {
    return this.current;
  }

  /** How many links there were after the first. */
  get restarts(): number {
    return Math.max(0, this.links - 1);
  }

  start(): void {
    this.running ??= this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.wake();
    await this.current?.close();
    await this.running;
  }

  /** Ends the link there is, or the pause there is, and connects anew. */
  reconnect(): void {
    this.backoff.reset();
    this.wake();
    void this.current?.close();
  }

  /** The link that replaces a lost one. Rejects when the next attempt fails. */
  replacement(): Promise<Link> {
    if (this.current) return Promise.resolve(this.current);
    return new Promise((resolve, reject) => this.waiters.push({ resolve, reject }));
  }

  private async run(): Promise<void> {
    while (!this.isStopping) {
      const reason = await this.live();
      this.settleWaiters((waiter) => waiter.reject(reason));
      if (this.isStopping) break;
      this.crashes.record();
      const { isLoop } = this.crashes;
      this.enter(isLoop ? 'crash-loop' : 'retrying', reason);
      const forgotten = reason instanceof TransportError && reason.fault === 'session-lost';
      if (isLoop) await this.pause(LOOP_PAUSE_MS);
      else if (!forgotten) await this.pause(this.backoff.next());
    }
    this.enter('stopped');
  }

  /** One link from its beginning to its end. Returns why it ended, or why it never began. */
  private async live(): Promise<Error> {
    this.enter('connecting', this.reason);
    let link: Link;
    try {
      link = await this.connect(this.stopping.signal);
    } catch (error) {
      return error as Error;
    }
    const since = performance.now();
    this.current = link;
    this.links++;
    this.enter('ready');
    this.onLink(link);
    this.settleWaiters((waiter) => waiter.resolve(link));
    if (this.isStopping) void link.close();
    const reason = await link.closed;
    this.current = undefined;
    this.onLost(reason);
    await link.close();
    if (performance.now() - since > STABLE_MS) this.backoff.reset();
    return reason;
  }

  private get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  private settleWaiters(settle: (waiter: (typeof this.waiters)[number]) => void): void {
    const { waiters } = this;
    this.waiters = [];
    for (const waiter of waiters) settle(waiter);
  }

  private pause(ms: number): Promise<void> {
    if (this.isStopping) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private enter(state: LinkState, reason?: Error): void {
    if (state === this.state) return;
    this.state = state;
    this.reason = reason;
    this.since = Date.now();
    const entry = { message: `server is ${state}`, server: this.server, reason: reason?.message };
    if (state === 'retrying' || state === 'crash-loop') this.logger.warn(entry);
    else if (state !== 'connecting') this.logger.log(entry);
  }
}
