import type { Subscription } from '../core/subscriptions/subscription-target.js';

/** The principal of a session, with what is needed to check after a restart whether it is still authorised. */
export interface StoredPrincipal {
  readonly id: string;
  readonly grants: '*' | readonly string[];
  /**
   * Digest of the authentication settings of the principal. After a change of these settings, the session is not restored.
   */
  readonly terms: string;
  /** Expiry of the credential in milliseconds since the epoch, where it has one. */
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

/** The members of a row that are stored. */
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
 * Port for the records of all sessions, which the next process restores. Changes are accepted synchronously, stored in
 * order, and never fail: after a restart, the client of a session that could not be stored has to initialize again. The
 * port neither validates nor expires records, and does not share live sessions between replicas.
 */
export abstract class SessionRecords {
  /** All records. Before the first change, these are the records of the previous process. */
  abstract load(): Promise<readonly SessionRecord[]>;

  /** Adds or replaces a session; its subscriptions are kept. */
  abstract put(session: StoredSession, seen: number): void;

  abstract touch(session: string, seen: number): void;

  /** Ignored for an unknown session, like `touch` and `removeSubscription`. */
  abstract addSubscription(session: string, subscription: StoredSubscription): void;

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
