import type { Subscription } from '../core/subscriptions/subscription-target.js';

/** On whose account a session was opened, and how to tell later whether they would still be let in. */
export interface StoredPrincipal {
  readonly id: string;
  readonly grants: '*' | readonly string[];
  /** A digest of the settings it was let in by: under others it has to come again. */
  readonly terms: string;
  /** Milliseconds since the epoch. Absent where the settings alone say when it ends. */
  readonly until?: number;
}

/** A session as it is kept. Times are milliseconds since the epoch. */
export interface StoredSession {
  /** The SHA-256 of the key that its client has. The key itself is kept nowhere: whoever knows it holds the session. */
  readonly id: string;
  readonly principal: StoredPrincipal;
  readonly project?: string;
  /** The version of the protocol that was agreed on. */
  readonly revision: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Whatever the client said it is. */
  readonly clientInfo?: unknown;
  readonly logLevel?: string;
  readonly opened: number;
}

export type StoredSubscription = Pick<Subscription, 'id' | 'server' | 'uri' | 'since'>;

export interface SessionRecord {
  readonly session: StoredSession;
  /** When its client was last known to be there. */
  readonly seen: number;
  readonly subscriptions: readonly StoredSubscription[];
}

/**
 * What a later life of the gateway needs to take sessions up again. Changes are taken at once, kept in their order, and
 * never fail: a session that could not be kept is one whose client has to initialize again. It neither checks what it
 * keeps nor forgets by itself; and it does not share live sessions between replicas.
 */
export abstract class SessionRecords {
  /** Everything there is: at the start, what an earlier life left. */
  abstract load(): Promise<readonly SessionRecord[]>;

  /** Adds a session, or says something new of one; the subscriptions it has stay. */
  abstract keep(session: StoredSession, seen: number): void;

  abstract saw(session: string, seen: number): void;

  /** Nothing of a session that is not kept, here and in `unsubscribed`. */
  abstract subscribed(session: string, subscription: StoredSubscription): void;

  abstract unsubscribed(session: string, subscription: string): void;

  /** With all its subscriptions. */
  abstract forget(session: string): void;

  /** Resolves when everything so far would survive the end of the process, or could not be made to. Never rejects. */
  abstract written(): Promise<void>;

  /** How often something could not be made to survive. */
  abstract get failures(): number;

  /** Waits for what is under way; later changes are not kept. Idempotent. */
  abstract close(): Promise<void>;
}
