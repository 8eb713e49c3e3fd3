import { runSliced, type Steps } from '../lib/slices/run-sliced.js';
import { sliceScheduler } from '../lib/slices/slices.js';

/**
 * Runs the builds of servers and other keys one after the other, in slices. A key that is added while it waits is built
 * once; one that is added while it is being built is built again. A build that fits into one slice is finished when
 * `add` returns.
 */
export class BuildQueue {
  /** By key: the callbacks that resolve its `add` calls. */
  private readonly waiting = new Map<string, (() => void)[]>();
  /** By key: its last removal, a new object each time. `buildOne` compares it to detect a removal during the build. */
  private readonly removals = new Map<string, object>();
  private isBuilding = false;
  private lastRun: Promise<void> = Promise.resolve();

  constructor(
    private readonly build: (key: string) => Steps,
    private readonly onBuilt: (key: string) => void,
    private readonly onError: (key: string, error: unknown) => void,
  ) {}

  /** Keys that were removed since their last build began. What was built for them is outdated. */
  get removed(): Iterable<string> {
    return this.removals.keys();
  }

  /** Queues a build of the key and resolves when that build has ended. A build that is already running does not count. */
  add(key: string): Promise<void> {
    return new Promise((resolve) => {
      const callbacks = this.waiting.get(key);
      if (callbacks) callbacks.push(resolve);
      else this.waiting.set(key, [resolve]);
      if (!this.isBuilding) this.lastRun = runSliced(this.buildWaiting(), sliceScheduler.start());
    });
  }

  markRemoved(key: string): void {
    this.removals.set(key, {});
  }

  /** Resolves when everything that was added so far is built. */
  async whenIdle(): Promise<void> {
    await this.lastRun;
  }

  private *buildWaiting(): Steps {
    this.isBuilding = true;
    // The iteration includes keys that are added meanwhile.
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
   * Builds again if the key was removed meanwhile: the first result still contains the server, and its conflicts with
   * names of other servers.
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
