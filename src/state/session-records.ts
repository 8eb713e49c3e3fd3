import type { Subscription } from '../core/subscriptions/subscription-target.js';

/** The principal of a session, with the data for checking after a restart whether the principal is still authorised. */
export interface StoredPrincipal {
  readonly id: string;
  readonly grants: '*' | readonly string[];
  /**
   * Digest of the authentication settings of the principal. After a change of these settings, the session is not restored.
   */
  readonly terms: string;
  /** Expiry of the credential in milliseconds since the epoch; absent if it does not expire. */
  readonly until?: number;
}

/** Durable form of a session. Times are milliseconds since the epoch. */
export interface StoredSession {
  /** SHA-256 of the session id that the client holds. The id itself is a credential and not stored. */
  readonly id: string;
  readonly principal: StoredPrincipal;
  readonly project?: string | undefined;
  /** The negotiated protocol revision. */
  readonly revision: string;
  /** JSON text of an object with the `capabilities` and, if the client sent it, the `clientInfo` of the session. */
  readonly profile: string;
  readonly logLevel?: string | undefined;
  readonly opened: number;
}

export type StoredSubscription = Pick<Subscription, 'id' | 'server' | 'uri' | 'isExact' | 'since'>;

/** Reduces a row of the subscription table to the members that are stored. */
export const storedMembers = ({
  id,
  server,
  uri,
  isExact,
  since,
}: StoredSubscription): StoredSubscription => ({
  id,
  server,
  uri,
  ...(isExact && { isExact }),
  since,
});

export interface SessionRecord {
  readonly session: StoredSession;
  /** Time of the client's last activity. */
  readonly seen: number;
  readonly subscriptions: readonly StoredSubscription[];
}

/**
 * Port for the records of all sessions, from which the next process restores the sessions. A change returns at once and is
 * stored later, in the order of the calls. A failure to store it is not reported to the caller: after a restart, the client
 * of that session has to initialize again. The port neither validates nor expires records, and does not share live sessions
 * between replicas.
 */
export abstract class SessionRecords {
  /** All records. Before the first change, these are the records of the previous process. */
  abstract load(): Promise<readonly SessionRecord[]>;

  /** Adds a session, or replaces it without removing its subscriptions. */
  abstract put(session: StoredSession, seen: number): void;

  /** Records the time of the client's last activity. No effect for an unknown session. */
  abstract touch(session: string, seen: number): void;

  /** No effect for an unknown session. */
  abstract addSubscription(session: string, subscription: StoredSubscription): void;

  /** No effect for an unknown session or subscription. */
  abstract removeSubscription(session: string, subscription: string): void;

  /** Removes the session and its subscriptions. */
  abstract remove(session: string): void;

  /** Resolves when all changes so far are stored or have failed to be stored. Never rejects. */
  abstract flush(): Promise<void>;

  /** Number of failed writes. Records that could not be read at the start count too. */
  abstract get failures(): number;

  /** Waits for pending writes; later changes are not stored. Idempotent. */
  abstract close(): Promise<void>;
}
