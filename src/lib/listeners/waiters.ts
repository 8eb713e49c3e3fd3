/** Promises that wait for the next occurrence of an event. */
export class Waiters {
  private resolvers: (() => void)[] = [];

  wait(): Promise<void> {
    return new Promise((resolve) => void this.resolvers.push(resolve));
  }

  /** Resolves the promises of all earlier `wait` calls. Call this when the event occurs. */
  release(): void {
    if (this.resolvers.length === 0) return;
    const waiting = this.resolvers;
    this.resolvers = [];
    for (const resolve of waiting) resolve();
  }
}
