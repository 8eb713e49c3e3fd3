import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Limits } from '../config/limits.js';
import { GatewayError, limitExceeded } from '../core/errors.js';
import { MemoryQuotas } from '../state/memory-quotas.js';
import { PrincipalQuota } from '../state/principal-quota.js';
import { Quotas, type QuotaCounter } from '../state/quotas.js';
import type { Principal } from '../mcp/principal.js';
import { Metrics } from '../metrics/metrics.js';
import { NotificationRecipients } from './notification-recipients.js';
import { Session, sessionIdOf, type PreviousSession } from './session.js';
import { SessionsByPrincipal } from './sessions-by-principal.js';
import { UnreadByPrincipal } from './unread-responses.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';

const KEEP_ALIVE_INTERVAL_MS = 5000;
/** Keep-alive comments for thousands of streams are written in slices. */
const SESSIONS_PER_SLICE = 250;
/** After this time without bytes, a stream gets a comment, and the response to a running request becomes a stream. */
const QUIET_MS = 15_000;
/** How many times within `sessionIdleMs` the last activity of a session is stored. */
const ACTIVITY_WRITES_PER_EXPIRY = 8;
/** Key of the counter of open sessions. */
const SESSIONS = 'sessions';

/** All open sessions: lookup, limit, expiry and keep-alive. */
@Injectable()
export class Sessions implements OnModuleInit {
  private readonly byId = new Map<string, Session>();
  /** By the key that clients send. A restored session is added here with the first request of its client. */
  private readonly byKey = new Map<string, Session>();
  private readonly timers: NodeJS.Timeout[] = [];
  private nextSlice: NodeJS.Immediate | undefined;
  private readonly intervalListeners = new ListenerSet();
  private readonly principalListeners = new ListenerSet<[session: Session]>();
  private readonly quotaKeyListeners = new ListenerSet<[session: Session]>();
  private readonly changeListeners = new ListenerSet<[session: Session]>();
  /**
   * Set by SessionPersistence. Resolves when everything that was opened, changed or closed so far is on disk, or after a
   * timeout; never rejects.
   */
  waitUntilPersisted: () => Promise<void> = () => Promise.resolve();
  private readonly unread = new UnreadByPrincipal();
  private readonly openListeners = new ListenerSet<[session: Session]>();
  private readonly logger = new Logger('Sessions');
  private readonly byPrincipal = new SessionsByPrincipal();
  /** The quotas that a session takes from `add` until it is closed. */
  private readonly quota: readonly QuotaCounter[];
  private readonly perPrincipal: PrincipalQuota;

  constructor(
    private readonly limits: Limits,
    private readonly metrics: Metrics = new Metrics(),
    readonly recipients: NotificationRecipients = new NotificationRecipients(),
    private readonly quotas: Quotas = new MemoryQuotas(),
  ) {
    this.quota = [{ key: SESSIONS, limit: limits.sessions }];
    const limit = { name: SESSIONS, limit: limits.sessionsPerPrincipal, what: 'open sessions' };
    this.perPrincipal = new PrincipalQuota(quotas, limit, () => metrics.countRefusal('sessionsPerPrincipal'));
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
  create(principal: Principal, quotaKey = principal.id): Session {
    const session = new Session(this.limits, principal, this.metrics, undefined, this.unread);
    session.quotaKey = quotaKey;
    return session;
  }

  add(session: Session): void {
    this.claim(session);
    this.byPrincipal.add(session);
    this.byId.set(session.id, session);
    if (session.key !== undefined) this.byKey.set(session.key, session);
    this.recipients.add(session);
    this.openListeners.emit(session);
    session.onClose(() => {
      this.quotas.release(this.quota);
      this.perPrincipal.release(session.quotaKey);
      this.byPrincipal.delete(session);
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
    const session = new Session(this.limits, principal, this.metrics, { ...previous, seenAt }, this.unread);
    return this.hasCapacity && !session.isIdleFor(this.limits.sessionIdleMs) ? session : undefined;
  }

  onOpen(listener: (session: Session) => void): () => void {
    return this.openListeners.add(listener);
  }

  /** Throws when a new session of this principal would be refused. */
  requireCapacity(quotaKey: string): void {
    if (this.perPrincipal.isReached(quotaKey)) throw this.perPrincipal.refusal();
    if (!this.hasCapacity && !this.byPrincipal.sessionToEndFor(quotaKey)) throw this.limitReached();
  }

  /**
   * The session of a request, whose time of last activity and principal are updated. Throws when there is none, or when
   * another principal opened it.
   */
  get(key: string | undefined, principal: Principal, quotaKey = principal.id): Session {
    if (key === undefined)
      throw new GatewayError('session-required', 'The Mcp-Session-Id header is required');
    const session = this.byKey.get(key) ?? this.byId.get(sessionIdOf(key));
    if (session?.principal.id !== principal.id) throw sessionNotFound();
    if (session.key === undefined) this.bindKey(session, key, quotaKey);
    if (session.principal !== principal) this.changePrincipal(session, principal);
    session.touch();
    return session;
  }

  /** Calls the listener when the client sends a new token, which may have other grants. */
  onPrincipalChange(listener: (session: Session) => void): void {
    this.principalListeners.add(listener);
  }

  /** Calls the listener when limits count a restored session by another key, with its first request. */
  onQuotaKeyChange(listener: (session: Session) => void): void {
    this.quotaKeyListeners.add(listener);
  }

  /** Calls the listener when a property of an open session has changed that the next process restores. */
  onChange(listener: (session: Session) => void): void {
    this.changeListeners.add(listener);
    this.principalListeners.add(listener);
  }

  /** Resolves when the changed log level of the session is persisted. */
  persistChange(session: Session): Promise<void> {
    this.changeListeners.emit(session);
    return this.waitUntilPersisted();
  }

  /**
   * For the end of the process: cancels all requests and ends all streams. The sessions stay open, so that a request that
   * still arrives is served: an error would end the session for its client, which the next process restores.
   */
  suspendAll(): void {
    for (const timer of this.timers) clearInterval(timer);
    clearImmediate(this.nextSlice);
    for (const session of this.byId.values()) session.suspend();
  }

  private get hasCapacity(): boolean {
    return this.quotas.count(SESSIONS) < this.limits.sessions;
  }

  private claim(session: Session): void {
    const { quotaKey } = session;
    // A restored session had a place in the previous process. The address of its anonymous client is not known yet.
    if (session.key === undefined) this.perPrincipal.claimUnlimited(quotaKey);
    else if (!this.perPrincipal.claim(quotaKey)) throw this.perPrincipal.refusal();
    if (this.quotas.claim(this.quota) === undefined) return;
    this.endSessionFor(quotaKey);
    if (this.quotas.claim(this.quota) === undefined) return;
    this.perPrincipal.release(quotaKey);
    throw this.limitReached();
  }

  /** Ends a session of the principal with the most, if the principal of a new session has at least two fewer. */
  private endSessionFor(quotaKey: string): void {
    const session = this.byPrincipal.sessionToEndFor(quotaKey);
    if (!session) return;
    this.metrics.countSessionEviction();
    this.logger.warn({
      message: 'session ended for a session of another principal: limits.sessions is reached',
      session: session.id,
      principal: session.principal.id,
      idleMs: Math.round(session.idleMs),
    });
    session.close();
  }

  private limitReached(): GatewayError {
    this.metrics.countRefusal('sessions');
    return limitExceeded(`${this.limits.sessions} sessions are open`, this.limits.sessions);
  }

  /** From its first request on, a restored session counts for the client that sent the request. */
  private bindKey(session: Session, key: string, quotaKey: string): void {
    session.key = key;
    this.byKey.set(key, session);
    this.byPrincipal.delete(session);
    this.perPrincipal.release(session.quotaKey);
    session.quotaKey = quotaKey;
    this.perPrincipal.claimUnlimited(quotaKey);
    this.byPrincipal.add(session);
    this.quotaKeyListeners.emit(session);
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
