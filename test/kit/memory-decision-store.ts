import { NO_DECISIONS } from '../../src/state/decisions.js';
import { DecisionStore, type DecisionListener, type Decisions } from '../../src/state/decision-store.js';

/** Decisions that are kept in memory, and are there at once. */
export class MemoryDecisionStore extends DecisionStore {
  private readonly listeners = new Set<DecisionListener>();
  private decisions: Decisions = NO_DECISIONS;

  override get current(): Decisions {
    return this.decisions;
  }

  /** Decides at once; `update` is the same with a promise. */
  decide(change: (decisions: Decisions) => Decisions): Decisions {
    const before = this.decisions;
    this.decisions = { ...change(before), revision: before.revision + 1 };
    for (const listener of this.listeners) listener(this.decisions, before);
    return this.decisions;
  }

  override update(change: (decisions: Decisions) => Decisions): Promise<Decisions> {
    return Promise.resolve(this.decide(change));
  }

  override onChange(listener: DecisionListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  override close(): Promise<void> {
    return Promise.resolve();
  }
}
