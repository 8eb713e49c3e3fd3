import { Logger } from '@nestjs/common';
import { Backoff } from '../../lib/backoff/backoff.js';
import { CrashHistory } from './crash-history.js';
import type { Link } from '../link/link.js';
import { isSessionExpired } from '../link/link-faults.js';
import { TransportError } from '../link/transport.js';

/**
 * - `connecting`: being started, nothing to call yet
 * - `ready`: linked
 * - `retrying`: lost or never reached; the next attempt comes after a pause
 * - `crash-loop`: lost five times within a minute, and no link held since; attempts go on, far apart
 * - `stopped`: disabled or shutting down
 */
export type ConnectionState = 'connecting' | 'ready' | 'retrying' | 'crash-loop' | 'stopped';

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
  /** Ends the pause there is. */
  private wake: (() => void) | undefined;
  /** Somebody asked for a new link, so the end of the one there is no trouble. */
  private renewing = false;
  private waiters: { resolve: (link: Link) => void; reject: (error: Error) => void }[] = [];
  private lastClosing: Promise<void> | undefined;
  private links = 0;
  state: ConnectionState = 'stopped';
  /** Why there is no link; the last thing that went wrong. */
  reason: Error | undefined;
  /** When the state was entered, in milliseconds of the epoch. */
  since = Date.now();

  constructor(
    private readonly server: string,
    private readonly connect: (signal: AbortSignal) => Promise<Link>,
    private readonly onLink: (link: Link) => void,
    private readonly onLost: (link: Link, reason: Error) => void,
    private readonly onState: () => void = () => {},
  ) {
    this.logger = new Logger('Backend');
  }

  /** The link in use; undefined while there is none. */
  get link(): Link | undefined {
    return this.current;
  }

  /** The server is there and has only forgotten us: the next link is being opened at once. */
  get isReinitializing(): boolean {
    const isWaiting = this.wake !== undefined || this.isStopping;
    return this.current === undefined && isSessionExpired(this.reason) && !isWaiting;
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
    this.wake?.();
    await this.current?.close();
    await this.running;
    await this.lastClosing;
  }

  /** Ends the link there is, or the pause there is, and connects anew, as if nothing had been wrong before. */
  reconnect(): void {
    this.backoff.reset();
    this.crashes.forget();
    this.renewing = true;
    this.wake?.();
    void this.current?.close();
  }

  /** The link that replaces a lost one. Rejects when that takes more than connecting at once. */
  replacement(lost: Link | undefined): Promise<Link> {
    if (this.current && this.current !== lost) return Promise.resolve(this.current);
    if (this.isStopping || this.wake) return Promise.reject(this.reason ?? stopped());
    return new Promise((resolve, reject) => this.waiters.push({ resolve, reject }));
  }

  private async run(): Promise<void> {
    while (!this.isStopping) {
      const reason = await this.live();
      if (!this.renewing && !this.isStopping) await this.recover(reason);
    }
    this.rejectWaiters(stopped());
    this.enter('stopped');
  }

  /** After a link that nobody meant to end. */
  private async recover(reason: Error): Promise<void> {
    this.crashes.record();
    const { isLoop } = this.crashes;
    this.enter(isLoop ? 'crash-loop' : 'retrying', reason);
    // The server is there, it only wants to be greeted again.
    if (isSessionExpired(reason) && !isLoop) return;
    this.rejectWaiters(reason);
    await this.pause(isLoop ? LOOP_PAUSE_MS : this.backoff.next());
  }

  /** One link from its beginning to its end. Returns why it ended, or why it never began. */
  private async live(): Promise<Error> {
    this.renewing = false;
    this.enter('connecting', this.reason);
    let link: Link;
    try {
      link = await this.connect(this.stopping.signal);
    } catch (error) {
      return error as Error;
    }
    if (this.isStopping) {
      await link.close();
      return stopped();
    }
    const since = performance.now();
    this.use(link);
    const reason = await link.closed;
    this.current = undefined;
    this.onLost(link, reason);
    this.lastClosing = link.close();
    // A server that forgot us is greeted again at once, while what it still answers comes in on the old link.
    if (!isSessionExpired(reason)) await this.lastClosing;
    if (performance.now() - since > STABLE_MS) {
      this.backoff.reset();
      this.crashes.held();
    }
    return reason;
  }

  private use(link: Link): void {
    this.current = link;
    this.links++;
    this.renewing = false;
    this.enter('ready');
    this.onLink(link);
    const { waiters } = this;
    this.waiters = [];
    for (const waiter of waiters) waiter.resolve(link);
  }

  private get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  private rejectWaiters(reason: Error): void {
    const { waiters } = this;
    this.waiters = [];
    for (const waiter of waiters) waiter.reject(reason);
  }

  private async pause(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
      timer = setTimeout(resolve, ms).unref();
    });
    clearTimeout(timer);
    this.wake = undefined;
  }

  private enter(state: ConnectionState, reason?: Error): void {
    if (state === this.state) return;
    this.state = state;
    this.reason = reason;
    this.since = Date.now();
    const entry = { message: `server is ${state}`, server: this.server, reason: reason?.message };
    if (state === 'retrying' || state === 'crash-loop') this.logger.warn(entry);
    else if (state !== 'connecting') this.logger.log(entry);
    this.onState();
  }
}

const stopped = (): TransportError => new TransportError('unreachable', 'it is being stopped');
