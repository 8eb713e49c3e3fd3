import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Limits } from '../config/limits.js';
import { GatewayError } from '../core/errors.js';
import { MemoryQuotas } from '../state/memory-quotas.js';
import { Quotas } from '../state/quotas.js';
import type { Principal } from '../mcp/principal.js';
import { Metrics } from '../metrics/metrics.js';
import type { UnfinishedList } from './list-reads.js';
import { NotificationRecipients } from './notification-recipients.js';
import { publicSessionId, Session, sessionIdOf, type PreviousSession } from './session.js';
import { SessionQuota } from './session-quota.js';
import { UnreadByPrincipal } from './unread-responses.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';

const KEEP_ALIVE_INTERVAL_MS = 5000;
/** Number of sessions whose keep-alive comments one slice writes. Limited, because there may be thousands of streams. */
const SESSIONS_PER_SLICE = 250;
/**
 * Interval of comments on standalone streams. A request that runs for longer than this gets a stream with comments too.
 */
const QUIET_MS = 15_000;
/** Number of times within `sessionIdleMs` that the last activity of an active session is stored. */
const ACTIVITY_WRITES_PER_EXPIRY = 8;

/** Opens, finds and restores sessions. Limits their number, closes expired ones and keeps their streams alive. */
@Injectable()
export class Sessions implements OnModuleInit {
  private readonly byId = new Map<string, Session>();
  /** By session key. A restored session is added here at the first request of its client. */
  private readonly byKey = new Map<string, Session>();
  private readonly timers: NodeJS.Timeout[] = [];
  private nextSlice: NodeJS.Immediate | undefined;
  private readonly intervalListeners = new ListenerSet();
  private readonly principalListeners = new ListenerSet<[session: Session]>();
  private readonly quotaKeyListeners = new ListenerSet<[session: Session]>();
  private readonly changeListeners = new ListenerSet<[session: Session]>();
  /**
   * Set by SessionPersistence. Resolves when everything that was opened, changed or closed so far is on disk, or after
   * a timeout; never rejects.
   */
  waitUntilPersisted: () => Promise<void> = () => Promise.resolve();
  readonly unreadByPrincipal = new UnreadByPrincipal();
  private readonly logger = new Logger('Sessions');
  private readonly openListeners = new ListenerSet<[session: Session]>();
  private readonly quota: SessionQuota;

  constructor(
    private readonly limits: Limits,
    private readonly metrics: Metrics = new Metrics(),
    readonly recipients: NotificationRecipients = new NotificationRecipients(),
    quotas: Quotas = new MemoryQuotas(),
  ) {
    this.quota = new SessionQuota(limits, quotas, metrics);
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

  /** Creates a session. Requests find it only after `add` was called. */
  create(principal: Principal, quotaKey = principal.id): Session {
    const session = this.createSession(principal);
    session.quotaKey = quotaKey;
    return session;
  }

  /** Opens a created or restored session. Throws if a limit is reached. */
  add(session: Session): void {
    this.quota.claim(session);
    this.byId.set(session.id, session);
    if (session.key !== undefined) this.byKey.set(session.key, session);
    this.recipients.add(session);
    this.openListeners.emit(session);
    session.listReads.onUnfinished((list) => this.reportUnfinishedList(session, list));
    session.onClose(() => {
      this.quota.release(session);
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

  /**
   * Creates a session of the previous process. Returns undefined if it has expired or the limit of sessions is reached.
   */
  restore(principal: Principal, previous: PreviousSession): Session | undefined {
    // The client may have been active after its activity was stored for the last time.
    const seenAt = Math.min(Date.now(), previous.seenAt + this.activityWriteIntervalMs);
    const session = this.createSession(principal, { ...previous, seenAt });
    return this.quota.hasCapacity && !session.isIdleFor(this.limits.sessionIdleMs) ? session : undefined;
  }

  onOpen(listener: (session: Session) => void): () => void {
    return this.openListeners.add(listener);
  }

  /** Throws if a new session of this principal would be refused. */
  requireCapacity(quotaKey: string): void {
    this.quota.requireCapacity(quotaKey);
  }

  /**
   * Returns the session of a request, and updates its time of last activity and its principal. Throws if there is no
   * session with this key, or if another principal opened it.
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

  /** Calls the listener when a request of the same principal has a new token. The new token may have other grants. */
  onPrincipalChange(listener: (session: Session) => void): void {
    this.principalListeners.add(listener);
  }

  /** Calls the listener at the first request of a restored session, after its `quotaKey` has changed. */
  onQuotaKeyChange(listener: (session: Session) => void): void {
    this.quotaKeyListeners.add(listener);
  }

  /**
   * Calls the listener when the log level or the principal of a session has changed, so that its record is out of date.
   */
  onChange(listener: (session: Session) => void): void {
    this.changeListeners.add(listener);
    this.principalListeners.add(listener);
  }

  /** Call this after a change of the log level. Resolves when the change is on disk, or after a timeout. */
  persistChange(session: Session): Promise<void> {
    this.changeListeners.emit(session);
    return this.waitUntilPersisted();
  }

  /**
   * For the end of the process: cancels all requests and ends all streams. The sessions stay open, so that the next
   * process can restore them. Requests that still arrive are served: after an error, a client would give up its session.
   */
  suspendAll(): void {
    for (const timer of this.timers) clearInterval(timer);
    clearImmediate(this.nextSlice);
    for (const session of this.byId.values()) session.suspend();
  }

  private createSession(principal: Principal, previous?: PreviousSession): Session {
    return new Session(this.limits, principal, {
      observer: this.metrics,
      unreadByPrincipal: this.unreadByPrincipal,
      ...(previous && { previous }),
    });
  }

  private reportUnfinishedList(session: Session, { method, entries }: UnfinishedList): void {
    this.metrics.countUnfinishedList(method);
    this.logger.debug({
      message: 'client did not request the next page of a list',
      session: publicSessionId(session),
      client: session.profile.clientLabel,
      method,
      entries,
    });
  }

  /** Call this at the first request of a restored session. */
  private bindKey(session: Session, key: string, quotaKey: string): void {
    session.key = key;
    this.byKey.set(key, session);
    this.quota.changeQuotaKey(session, quotaKey);
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
    // If the slices of the previous interval are not finished, this interval is skipped.
    if (!this.nextSlice) this.keepAliveSlice(this.byId.values());
  }

  private keepAliveSlice(remaining: Iterator<Session>): void {
    this.nextSlice = undefined;
    for (let count = 0; count < SESSIONS_PER_SLICE; count++) {
      const next = remaining.next();
      if (next.done) return;
      next.value.keepAlive(QUIET_MS);
    }
    this.nextSlice = setImmediate(() => this.keepAliveSlice(remaining));
  }
}

export const sessionNotFound = (): GatewayError =>
  new GatewayError('session-not-found', 'Session not found: initialize again');
