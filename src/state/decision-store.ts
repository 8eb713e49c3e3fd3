/** Decision about one server. An absent field leaves the value of the configuration. */
export interface ServerDecision {
  readonly enabled?: boolean;
  /** Whether a tool is enabled, by own name. The record has no prototype, so that any name can be looked up. */
  readonly tools?: Readonly<Record<string, boolean>>;
  /** Definition of a server that was added, or that replaces the one of the configuration; as the administrator sent it. */
  readonly definition?: Readonly<Record<string, unknown>>;
  readonly removed?: true;
}

export type ProjectDecision =
  { readonly servers: readonly string[]; readonly description?: string } | { readonly removed: true };

/** Immutable snapshot of all decisions, by server and project id. */
export interface Decisions {
  /** Incremented by every change. */
  readonly revision: number;
  readonly servers: ReadonlyMap<string, ServerDecision>;
  readonly projects: ReadonlyMap<string, ProjectDecision>;
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
