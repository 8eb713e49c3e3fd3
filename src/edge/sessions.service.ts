import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Limits } from '../config/limits.js';
import { GatewayError } from '../core/errors.js';
import type { Principal } from '../mcp/principal.js';
import { Metrics } from '../metrics/metrics.js';
import { NotificationRecipients } from './notification-recipients.js';
import { Session, sessionIdOf, type PreviousSession } from './session.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';

const KEEP_ALIVE_INTERVAL_MS = 5000;
/** Sessions that are tended in one turn of the event loop: to write to thousands of streams takes its time. */
const SESSIONS_PER_SLICE = 250;
/**
 * So long nothing travels on a stream. An answer that is not there by then becomes a stream, so that something can
 * travel meanwhile.
 */
const QUIET_MS = 15_000;
/** In the time of an expiry it is written down so often that a client is there. */
const ACTIVITY_WRITES_PER_EXPIRY = 8;

/** The sessions there are. A session is a record and nothing else: no process or connection belongs to it alone. */
@Injectable()
export class Sessions implements OnModuleInit {
  private readonly sessions = new Map<string, Session>();
  /** By what their clients hold; those of an earlier life are not here until their clients come back. */
  private readonly byKey = new Map<string, Session>();
  private readonly timers: NodeJS.Timeout[] = [];
  private nextSlice: NodeJS.Immediate | undefined;
  private readonly intervalListeners = new ListenerSet();
  private readonly principalListeners = new ListenerSet<[session: Session]>();
  private readonly openListeners = new ListenerSet<[session: Session]>();

  constructor(
    private readonly limits: Limits,
    private readonly metrics: Metrics = new Metrics(),
    readonly recipients: NotificationRecipients = new NotificationRecipients(),
  ) {}

  onModuleInit(): void {
    const sweepEvery = Math.min(30_000, this.limits.sessionIdleMs / 4);
    this.timers.push(
      setInterval(() => this.closeExpired(), sweepEvery).unref(),
      setInterval(() => this.runInterval(), KEEP_ALIVE_INTERVAL_MS).unref(),
    );
  }

  get size(): number {
    return this.sessions.size;
  }

  all(): Iterable<Session> {
    return this.sessions.values();
  }

  /** A session that nobody can use until it is added. */
  create(principal: Principal): Session {
    return new Session(this.limits, principal, this.metrics);
  }

  add(session: Session): void {
    this.requireCapacity();
    this.sessions.set(session.id, session);
    if (session.key !== undefined) this.byKey.set(session.key, session);
    this.recipients.add(session);
    this.openListeners.emit(session);
    session.onClose(() => {
      this.sessions.delete(session.id);
      if (session.key !== undefined) this.byKey.delete(session.key);
    });
  }

  /** By its id, which is not what its client holds. */
  find(id: string): Session | undefined {
    return this.sessions.get(id);
  }

  /** Between two times that it is written down, for a later life, that a client is there. */
  get activityWriteIntervalMs(): number {
    return this.limits.sessionIdleMs / ACTIVITY_WRITES_PER_EXPIRY;
  }

  /** A session from an earlier life, which also nobody can use until it is added. Undefined when its time is over. */
  restore(principal: Principal, past: PreviousSession): Session | undefined {
    // It may have been there after that was last written down.
    const seenAt = Math.min(Date.now(), past.seenAt + this.activityWriteIntervalMs);
    const session = new Session(this.limits, principal, this.metrics, { ...past, seenAt });
    return this.hasCapacity && !session.isIdleFor(this.limits.sessionIdleMs) ? session : undefined;
  }

  onOpen(listener: (session: Session) => void): () => void {
    return this.openListeners.add(listener);
  }

  requireCapacity(): void {
    const limit = this.limits.sessions;
    if (!this.hasCapacity)
      throw new GatewayError('limit-exceeded', `LimitExceeded: ${limit} sessions are open`, {
        code: 'LimitExceeded',
        limit,
      });
  }

  /** The key alone opens nothing: to anybody but who opened it, a session does not exist. */
  get(key: string | undefined, principal: Principal): Session {
    if (key === undefined)
      throw new GatewayError('session-required', 'The Mcp-Session-Id header is required');
    const session = this.byKey.get(key) ?? this.sessions.get(sessionIdOf(key));
    if (session?.principal.id !== principal.id) throw sessionNotFound();
    if (session.key === undefined) this.bindKey(session, key);
    if (session.principal !== principal) this.changePrincipal(session, principal);
    session.touch();
    return session;
  }

  /** Calls the listener when a client comes with another token than before, which may carry other grants. */
  onPrincipalChange(listener: (session: Session) => void): void {
    this.principalListeners.add(listener);
  }

  /** Lets go of everything, once nothing new comes in any more. */
  close(): void {
    for (const timer of this.timers) clearInterval(timer);
    clearImmediate(this.nextSlice);
    for (const session of this.sessions.values()) session.close();
  }

  private get hasCapacity(): boolean {
    return this.sessions.size < this.limits.sessions;
  }

  private bindKey(session: Session, key: string): void {
    session.key = key;
    this.byKey.set(key, session);
  }

  private changePrincipal(session: Session, principal: Principal): void {
    session.principal = principal;
    this.principalListeners.emit(session);
  }

  private closeExpired(): void {
    for (const session of this.sessions.values())
      if (session.isIdleFor(this.limits.sessionIdleMs)) session.close();
  }

  /** Calls the listener every few seconds, while there are sessions to look after. */
  onInterval(listener: () => void): void {
    this.intervalListeners.add(listener);
  }

  private runInterval(): void {
    this.intervalListeners.emit();
    // A round that takes longer than it should is not begun twice.
    if (!this.nextSlice) this.keepAliveSlice(this.sessions.values());
  }

  /** Who comes or goes between two slices is met or not met. */
  private keepAliveSlice(rest: Iterator<Session>): void {
    this.nextSlice = undefined;
    for (let left = SESSIONS_PER_SLICE; left > 0; left--) {
      const next = rest.next();
      if (next.done) return;
      next.value.keepAlive(QUIET_MS);
    }
    this.nextSlice = setImmediate(() => this.keepAliveSlice(rest));
  }
}

export const sessionNotFound = (): GatewayError =>
  new GatewayError('session-not-found', 'Session not found: initialize again');
