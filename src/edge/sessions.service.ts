import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Limits } from '../config/limits.js';
import { GatewayError } from '../core/errors.js';
import type { Principal } from '../mcp/principal.js';
import { Metrics } from '../metrics/metrics.js';
import { Session } from './session.js';

const TEND_EVERY_MS = 5000;
/** An answer that is not there by then becomes a stream, so that something can travel meanwhile. */
const QUIET_MS = 15_000;
const STUCK_MS = 30_000;

/** The sessions there are. A session is a record and nothing else: no process or connection belongs to it alone. */
@Injectable()
export class Sessions implements OnModuleInit {
  private readonly sessions = new Map<string, Session>();
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly tendListeners: (() => void)[] = [];
  private readonly renewalListeners: ((session: Session) => void)[] = [];
  private readonly openListeners = new Set<(session: Session) => void>();

  constructor(
    private readonly limits: Limits,
    private readonly metrics: Metrics = new Metrics(),
  ) {}

  onModuleInit(): void {
    const sweepEvery = Math.min(30_000, this.limits.sessionIdleMs / 4);
    this.timers.push(
      setInterval(() => this.expire(), sweepEvery).unref(),
      setInterval(() => this.tend(), TEND_EVERY_MS).unref(),
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
    this.requireRoom();
    this.sessions.set(session.id, session);
    for (const listener of this.openListeners) listener(session);
    session.onClose(() => this.sessions.delete(session.id));
  }

  onOpen(listener: (session: Session) => void): () => void {
    this.openListeners.add(listener);
    return () => this.openListeners.delete(listener);
  }

  requireRoom(): void {
    const limit = this.limits.sessions;
    if (this.sessions.size >= limit)
      throw new GatewayError('limit-exceeded', `LimitExceeded: ${limit} sessions are open`, {
        code: 'LimitExceeded',
        limit,
      });
  }

  /** The id alone opens nothing: to anybody but who opened it, a session does not exist. */
  get(id: string | undefined, principal: Principal): Session {
    if (id === undefined) throw new GatewayError('session-required', 'The Mcp-Session-Id header is required');
    const session = this.sessions.get(id);
    if (session?.principal.id !== principal.id) throw sessionNotFound();
    if (session.principal !== principal) this.renew(session, principal);
    session.touch();
    return session;
  }

  /** Calls the listener when a client comes with another token than before, which may carry other grants. */
  onRenewal(listener: (session: Session) => void): void {
    this.renewalListeners.push(listener);
  }

  /** Lets go of everything, once nothing new comes in any more. */
  close(): void {
    for (const timer of this.timers) clearInterval(timer);
    for (const session of this.sessions.values()) session.close();
  }

  private renew(session: Session, principal: Principal): void {
    session.principal = principal;
    for (const listener of this.renewalListeners) listener(session);
  }

  private expire(): void {
    for (const session of this.sessions.values())
      if (session.isIdleFor(this.limits.sessionIdleMs)) session.close();
  }

  /** Calls the listener every few seconds, while there are sessions to look after. */
  onTend(listener: () => void): void {
    this.tendListeners.push(listener);
  }

  private tend(): void {
    for (const listener of this.tendListeners) listener();
    for (const session of this.sessions.values()) session.tend(QUIET_MS, STUCK_MS);
  }
}

export const sessionNotFound = (): GatewayError =>
  new GatewayError('session-not-found', 'Session not found: initialize again');
