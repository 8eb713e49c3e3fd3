import { runSliced, type Steps } from '../lib/slices/run-sliced.js';
import { sliceScheduler } from '../lib/slices/slices.js';

/**
 * Builds parts of the catalog one after the other, in slices. Each part has a key, such as the id of its server. A key that
 * is added again while it waits is built once. A key that is added while it is being built is built again. A build that fits
 * into one slice is finished when `add` returns.
 */
export class BuildQueue {
  /** By key that waits for its build: the callbacks that resolve the promises of `add`. */
  private readonly waiting = new Map<string, (() => void)[]>();
  /** By removed key: a new object for each removal, so that `buildOne` detects a removal during the build. */
  private readonly removals = new Map<string, object>();
  private isBuilding = false;
  private lastRun: Promise<void> = Promise.resolve();

  constructor(
    private readonly build: (key: string) => Steps,
    private readonly onBuilt: (key: string) => void,
    private readonly onError: (key: string, error: unknown) => void,
  ) {}

  /** The keys that were removed since their last build began. The results of these builds are outdated. */
  get removed(): Iterable<string> {
    return this.removals.keys();
  }

  /** Queues a build of the key and resolves when that build has ended. A build that has started already does not count. */
  add(key: string): Promise<void> {
    return new Promise((resolve) => {
      const callbacks = this.waiting.get(key);
      if (callbacks) callbacks.push(resolve);
      else this.waiting.set(key, [resolve]);
      if (!this.isBuilding) this.lastRun = runSliced(this.buildWaiting(), sliceScheduler.start());
    });
  }

  /** To be called when the part with this key no longer exists, before `add` is called with the key. */
  markRemoved(key: string): void {
    this.removals.set(key, {});
  }

  /** Resolves when everything that was added so far is built. */
  async whenIdle(): Promise<void> {
    await this.lastRun;
  }

  private *buildWaiting(): Steps {
    this.isBuilding = true;
    // Iterating over a map includes the keys that are added during the iteration.
    for (const [key, callbacks] of this.waiting) {
      this.waiting.delete(key);
      try {
        yield* this.buildOne(key);
        this.onBuilt(key);
      } catch (error) {
        this.onError(key, error);
      }
      for (const resolve of callbacks) resolve();
    }
    this.isBuilding = false;
  }

  /**
   * Builds the key. If the key was removed during the build, builds it again: the first result still contains the removed
   * server and the conflicts of its names with those of other servers.
   */
  private *buildOne(key: string): Steps {
    let removal: object | undefined;
    do {
      removal = this.removals.get(key);
      yield* this.build(key);
    } while (this.removals.get(key) !== removal);
    this.removals.delete(key);
  }
}
