export type Listener<Args extends readonly unknown[]> = (...args: Args) => void;

/**
 * The listeners of one event. `emit` calls each listener once, lowest `order` first; listeners of equal order in the
 * order of their addition. It does not call listeners that are added or removed while it runs.
 *
 * All listeners are called even if one throws. Its error goes to `onError`; without `onError`, `emit` throws the first
 * error after the last call.
 */
export class ListenerSet<Args extends readonly unknown[] = []> {
  /** Listeners with their `order`, sorted by it. */
  private orders = new Map<Listener<Args>, number>();
  private maxOrder = -Infinity;

  constructor(private readonly onError?: (error: unknown) => void) {}

  get size(): number {
    return this.orders.size;
  }

  /** Returns a function that removes the listener. Adding a listener again changes nothing. */
  add(listener: Listener<Args>, order = 0): () => void {
    if (!this.orders.has(listener)) this.insert(listener, order);
    return () => void this.orders.delete(listener);
  }

  emit(...args: Args): void {
    const errors: unknown[] = [];
    const present = [...this.orders.keys()];
    for (const listener of present) {
      if (!this.orders.has(listener)) continue;
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
