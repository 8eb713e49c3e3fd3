/** Decision about one server. An absent field leaves the value of the configuration. */
export interface ServerDecision {
  readonly enabled?: boolean | undefined;
  /** Whether a tool is enabled, by own name. The record has no prototype, so that any name can be looked up. */
  readonly tools?: Readonly<Record<string, boolean>> | undefined;
  /** Definition of a server that was added, or that replaces the one of the configuration; as the administrator sent it. */
  readonly definition?: Readonly<Record<string, unknown>> | undefined;
  readonly removed?: true | undefined;
}

export type ProjectDecision =
  { readonly servers: readonly string[]; readonly description?: string } | { readonly removed: true };

/** Hashes of the key with this id that are refused. A new key under the same id has another hash and is accepted. */
export interface KeyDecision {
  readonly revoked: readonly string[];
}

/** Who made a decision, and when. */
export interface DecisionStamp {
  /** Role of the caller of the admin API. */
  readonly by: string;
  /** ISO 8601. */
  readonly at: string;
  /** Made with `decisions.policy: file`: it applies to a server of the file only if it disables the server or a tool. */
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
 * Port for the decisions of administrators at run time: an overlay on the configuration, by stable id. The store keeps
 * decisions and announces changes; it neither validates them against the configuration nor applies them.
 */
export abstract class DecisionStore {
  abstract get current(): Decisions;

  /**
   * Applies a pure change to the current decisions. Changes run one at a time, in order. Resolves once the result is
   * durable, is `current` and was announced to the listeners. The store counts the revision; a change without effect
   * writes nothing. Rejects with `storage-full`, `storage-unavailable` or the error of the change, and leaves `current`
   * as it was.
   */
  abstract update(change: (decisions: Decisions) => Decisions): Promise<Decisions>;

  /** Listeners are called in the order of the revisions. Returns the function that removes the listener. */
  abstract onChange(listener: DecisionListener): () => void;

  /** Waits for pending changes and rejects later ones; `current` stays readable. Idempotent. */
  abstract close(): Promise<void>;
}
