import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Limits } from '../config/limits.js';
import { GatewayError, limitExceeded } from '../core/errors.js';
import { MemoryQuotas } from '../state/memory-quotas.js';
import { Quotas, type QuotaCounter } from '../state/quotas.js';
import type { Principal } from '../mcp/principal.js';
import { Metrics } from '../metrics/metrics.js';
import { NotificationRecipients } from './notification-recipients.js';
import { Session, sessionIdOf, type PreviousSession } from './session.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';

const KEEP_ALIVE_INTERVAL_MS = 5000;
/** Keep-alive comments for thousands of streams are written in slices. */
const SESSIONS_PER_SLICE = 250;
/** After this time without bytes, a stream gets a comment, and the response to a running request becomes a stream. */
const QUIET_MS = 15_000;
/** How often the last activity of a session is stored within `sessionIdleMs`. */
const ACTIVITY_WRITES_PER_EXPIRY = 8;
/** Key of the counter of open sessions. */
const SESSIONS = 'sessions';

/** All open sessions: lookup, limit, expiry and keep-alive. */
@Injectable()
export class Sessions implements OnModuleInit {
  private readonly byId = new Map<string, Session>();
  /** Restored sessions are added with the first request of their client, which contains the key. */
  private readonly byKey = new Map<string, Session>();
  private readonly timers: NodeJS.Timeout[] = [];
  private nextSlice: NodeJS.Immediate | undefined;
  private readonly intervalListeners = new ListenerSet();
  private readonly principalListeners = new ListenerSet<[session: Session]>();
  private readonly openListeners = new ListenerSet<[session: Session]>();
  /** The quota that a session takes from `add` until it is closed. */
  private readonly quota: readonly QuotaCounter[];

  constructor(
    private readonly limits: Limits,
    private readonly metrics: Metrics = new Metrics(),
    readonly recipients: NotificationRecipients = new NotificationRecipients(),
    private readonly quotas: Quotas = new MemoryQuotas(),
  ) {
    this.quota = [{ key: SESSIONS, limit: limits.sessions }];
  }

  onModuleInit(): void {
    const expiryIntervalMs = Math.min(30_000, this.limits.sessionIdleMs / 4);
    this.timers.push(
      setInterval(() => this.closeExpired(), expiryIntervalMs).unref(),
      setInterval(() => this.runInterval(), KEEP_ALIVE_INTERVAL_MS).unref(),
    );
  }

  get size(): number {
    return this.byId.size;
  }

  all(): Iterable<Session> {
    return this.byId.values();
  }

  /** Requests do not find the session before it is added. */
  create(principal: Principal): Session {
    return new Session(this.limits, principal, this.metrics);
  }

  add(session: Session): void {
    if (this.quotas.claim(this.quota)) throw this.limitReached();
    this.byId.set(session.id, session);
    if (session.key !== undefined) this.byKey.set(session.key, session);
    this.recipients.add(session);
    this.openListeners.emit(session);
    session.onClose(() => {
      this.quotas.release(this.quota);
      this.byId.delete(session.id);
      if (session.key !== undefined) this.byKey.delete(session.key);
    });
  }

  find(id: string): Session | undefined {
    return this.byId.get(id);
  }

  get activityWriteIntervalMs(): number {
    return this.limits.sessionIdleMs / ACTIVITY_WRITES_PER_EXPIRY;
  }

  /** A session of the previous process, not added yet. Undefined when it has expired or the limit is reached. */
  restore(principal: Principal, previous: PreviousSession): Session | undefined {
    // The client may have been active after its activity was stored last.
    const seenAt = Math.min(Date.now(), previous.seenAt + this.activityWriteIntervalMs);
    const session = new Session(this.limits, principal, this.metrics, { ...previous, seenAt });
    return this.hasCapacity && !session.isIdleFor(this.limits.sessionIdleMs) ? session : undefined;
  }

  onOpen(listener: (session: Session) => void): () => void {
    return this.openListeners.add(listener);
  }

  requireCapacity(): void {
    if (!this.hasCapacity) throw this.limitReached();
  }

  /**
   * The session of a request, whose time of last activity and principal are updated. Throws when there is none, or when
   * another principal opened it.
   */
  get(key: string | undefined, principal: Principal): Session {
    if (key === undefined)
      throw new GatewayError('session-required', 'The Mcp-Session-Id header is required');
    const session = this.byKey.get(key) ?? this.byId.get(sessionIdOf(key));
    if (session?.principal.id !== principal.id) throw sessionNotFound();
    if (session.key === undefined) this.bindKey(session, key);
    if (session.principal !== principal) this.changePrincipal(session, principal);
    session.touch();
    return session;
  }

  /** Calls the listener when the client sends a new token, which may have other grants. */
  onPrincipalChange(listener: (session: Session) => void): void {
    this.principalListeners.add(listener);
  }

  close(): void {
    for (const timer of this.timers) clearInterval(timer);
    clearImmediate(this.nextSlice);
    for (const session of this.byId.values()) session.close();
  }

  private get hasCapacity(): boolean {
    return this.quotas.count(SESSIONS) < this.limits.sessions;
  }

  private limitReached(): GatewayError {
    return limitExceeded(`${this.limits.sessions} sessions are open`, this.limits.sessions);
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
    for (const session of this.byId.values())
      if (session.isIdleFor(this.limits.sessionIdleMs)) session.close();
  }

  /** Calls the listener every few seconds. */
  onInterval(listener: () => void): void {
    this.intervalListeners.add(listener);
  }

  private runInterval(): void {
    this.intervalListeners.emit();
    // Skipped while the slices of the previous interval are not finished.
    if (!this.nextSlice) this.keepAliveSlice(this.byId.values());
  }

  private keepAliveSlice(remaining: Iterator<Session>): void {
    this.nextSlice = undefined;
    for (let left = SESSIONS_PER_SLICE; left > 0; left--) {
      const next = remaining.next();
      if (next.done) return;
      next.value.keepAlive(QUIET_MS);
    }
    this.nextSlice = setImmediate(() => this.keepAliveSlice(remaining));
  }
}

export const sessionNotFound = (): GatewayError =>
  new GatewayError('session-not-found', 'Session not found: initialize again');
