export type Listener<Args extends readonly unknown[]> = (...args: Args) => void;

/**
 * The listeners of one event. `emit` calls each listener once, in ascending `order`, and listeners with the same `order` in
 * the sequence in which they were added. `emit` does not call listeners that are added or removed while it runs.
 *
 * All listeners are called even if one throws. The error goes to `onError`. Without `onError`, `emit` throws the first
 * error after it has called all listeners.
 */
export class ListenerSet<Args extends readonly unknown[] = []> {
  /** The `order` of each listener. The map is sorted by `order`. */
  private orders = new Map<Listener<Args>, number>();
  private maxOrder = -Infinity;

  constructor(private readonly onError?: (error: unknown) => void) {}

  get size(): number {
    return this.orders.size;
  }

  /** Adds a listener. Returns a function that removes it. Adding the same listener again has no effect. */
  add(listener: Listener<Args>, order = 0): () => void {
    if (!this.orders.has(listener)) this.insert(listener, order);
    return () => void this.orders.delete(listener);
  }

  emit(...args: Args): void {
    const errors: unknown[] = [];
    const listeners = [...this.orders.keys()];
    for (const listener of listeners) {
      const wasRemoved = !this.orders.has(listener);
      if (wasRemoved) continue;
      try {
        listener(...args);
      } catch (error) {
        if (this.onError) this.onError(error);
        else errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  private insert(listener: Listener<Args>, order: number): void {
    this.orders.set(listener, order);
    if (order >= this.maxOrder) this.maxOrder = order;
    else this.orders = new Map([...this.orders].toSorted(([, a], [, b]) => a - b));
  }
}
