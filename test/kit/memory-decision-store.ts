import { ListenerSet } from '../../src/lib/listeners/listener-set.js';
import { DecisionStore, type DecisionListener, type Decisions } from '../../src/state/decision-store.js';
import { NO_DECISIONS } from '../../src/state/decisions.js';
import { asStored } from '../../src/state/decisions-json.js';
import { storageUnavailable } from '../../src/state/storage-failure.js';

/** A decision store in memory. */
export class MemoryDecisionStore extends DecisionStore {
  current: Decisions = NO_DECISIONS;
  /** While true, changes fail as with a broken disk. */
  isBroken = false;
  private readonly listeners = new ListenerSet<Parameters<DecisionListener>>();

  /** Applies a change synchronously. */
  decide(change: (decisions: Decisions) => Decisions): Decisions {
    const before = this.current;
    this.current = asStored({ ...change(before), revision: before.revision + 1 });
    this.listeners.emit(this.current, before);
    return this.current;
  }

  override async update(change: (decisions: Decisions) => Decisions): Promise<Decisions> {
    await Promise.resolve();
    if (this.isBroken) throw storageUnavailable('the disk is unavailable');
    return this.decide(change);
  }

  override onChange(listener: DecisionListener): () => void {
    return this.listeners.add(listener);
  }

  override async close(): Promise<void> {}
}
