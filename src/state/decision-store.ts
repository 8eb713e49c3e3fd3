/** What was decided about one server. What is absent is as the config says. */
export interface ServerDecision {
  readonly enabled?: boolean;
  /** By the tool's own name: whether it is on. Safe to ask for any name: the record has no prototype. */
  readonly tools?: Readonly<Record<string, boolean>>;
  /** A server that was added, or takes the place of the config's; as it was given. */
  readonly definition?: Readonly<Record<string, unknown>>;
  readonly removed?: true;
}

export type ProjectDecision =
  { readonly servers: readonly string[]; readonly description?: string } | { readonly removed: true };

/** An immutable snapshot of everything that was decided, by server and project id. */
export interface Decisions {
  /** Grows by one with every change. */
  readonly revision: number;
  readonly servers: ReadonlyMap<string, ServerDecision>;
  readonly projects: ReadonlyMap<string, ProjectDecision>;
}

export type DecisionListener = (now: Decisions, before: Decisions) => void;

/**
 * What administrators decided at run time: an overlay on the config, by stable id. It keeps decisions and tells of
 * them; it neither checks them against the config nor applies them.
 */
export abstract class DesiredState {
  abstract get current(): Decisions;

  /**
   * Applies a pure change to what is current when its turn comes; changes are made one after the other. Resolves once
   * the outcome is durable, is `current` and the listeners were told. The revision is counted here, whatever the
   * change says; a change that alters nothing writes nothing. Rejects with `storage-full`, `storage-unavailable` or
   * whatever the change throws, and `current` is as it was.
   */
  abstract update(change: (decisions: Decisions) => Decisions): Promise<Decisions>;

  /** Listeners are called in the order of the revisions. The result ends the listening. */
  abstract onChange(listener: DecisionListener): () => void;

  /** Waits for the changes under way and refuses later ones; `current` stays readable. Idempotent. */
  abstract close(): Promise<void>;
}
