/** Decision about one server. Where a field is absent, the configuration applies. */
export interface ServerDecision {
  readonly enabled?: boolean | undefined;
  /** Whether a tool is enabled, by own name. The record has no prototype, so that any name can be looked up. */
  readonly tools?: Readonly<Record<string, boolean>> | undefined;
  /**
   * Definition as the administrator sent it. It adds a server that is not in the configuration, or replaces the definition
   * in the configuration.
   */
  readonly definition?: Readonly<Record<string, unknown>> | undefined;
  readonly removed?: true | undefined;
}

export type ProjectDecision =
  { readonly servers: readonly string[]; readonly description?: string } | { readonly removed: true };

/** The hashes of the revoked client keys that have one key id. A new key with this id has another hash and is accepted. */
export interface KeyDecision {
  readonly revoked: readonly string[];
}

/** Who made a decision, and when. */
export interface DecisionStamp {
  /** Role of the caller of the admin API. */
  readonly by: string;
  /** ISO 8601. */
  readonly at: string;
  /**
   * Present if the decision was made with `decisions.policy: file`. With this policy, a decision about a server of the
   * configuration file applies only if this member is present and the decision disables the server or a tool.
   */
  readonly emergency?: true;
}

/** Immutable snapshot of all decisions, by the ids of servers, projects and keys. */
export interface Decisions {
  /** Incremented by every change. */
  readonly revision: number;
  readonly servers: ReadonlyMap<string, ServerDecision>;
  readonly projects: ReadonlyMap<string, ProjectDecision>;
  readonly keys: ReadonlyMap<string, KeyDecision>;
  /** By the id of a `DecisionItem`. Decisions of state files of schema 1 have none. */
  readonly stamps: ReadonlyMap<string, DecisionStamp>;
}

export type DecisionListener = (now: Decisions, before: Decisions) => void;

/**
 * Port for the decisions of administrators at run time, which are an overlay on the configuration. The store keeps
 * decisions and announces changes to listeners. Other modules compare decisions with the configuration and apply them.
 */
export abstract class DecisionStore {
  abstract get current(): Decisions;

  /**
   * Applies a pure function to the current decisions. Changes run one at a time, in the order of the calls. Resolves when
   * the result is durable, is `current` and was announced to the listeners. The store increments the revision; a change
   * without effect keeps the revision and writes nothing. Rejects with `storage-full`, `storage-unavailable` or the error
   * that `change` throws; `current` is then unchanged.
   */
  abstract update(change: (decisions: Decisions) => Decisions): Promise<Decisions>;

  /** Listeners are called in the order of the revisions. Returns the function that removes the listener. */
  abstract onChange(listener: DecisionListener): () => void;

  /** Waits for pending changes and rejects later ones; `current` stays readable. Idempotent. */
  abstract close(): Promise<void>;
}
