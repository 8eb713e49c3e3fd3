import { runSliced, type Steps } from '../lib/slices/run-sliced.js';
import { sliceScheduler } from '../lib/slices/slices.js';

/**
 * Builds one server after the other, in slices. A server that is added while it waits is built once; one that is added
 * while it is being built is built again. A build that fits into one slice is finished when `add` returns.
 */
export class BuildQueue {
  /** By server: the callbacks that resolve its `add` calls. */
  private readonly waiting = new Map<string, (() => void)[]>();
  /** By server: a new object for every removal, so that `buildOne` detects one during a build. */
  private readonly removals = new Map<string, object>();
  private isBuilding = false;
  private lastRun: Promise<void> = Promise.resolve();

  constructor(
    private readonly build: (server: string) => Steps,
    private readonly onBuilt: () => void,
    private readonly onError: (server: string, error: unknown) => void,
  ) {}

  /** Servers that were removed since their last build began. What was built for them is outdated. */
  get removed(): Iterable<string> {
    return this.removals.keys();
  }

  /** Resolves when a build of the server that begins after this call has ended. */
  add(server: string): Promise<void> {
    return new Promise((resolve) => {
      const callbacks = this.waiting.get(server);
      if (callbacks) callbacks.push(resolve);
      else this.waiting.set(server, [resolve]);
      if (!this.isBuilding) this.lastRun = runSliced(this.buildWaiting(), sliceScheduler.start());
    });
  }

  markRemoved(server: string): void {
    this.removals.set(server, {});
  }

  /** Resolves when everything that was added so far is built. */
  async whenIdle(): Promise<void> {
    await this.lastRun;
  }

  private *buildWaiting(): Steps {
    this.isBuilding = true;
    // The iteration includes servers that are added meanwhile.
    for (const [server, callbacks] of this.waiting) {
      this.waiting.delete(server);
      try {
        yield* this.buildOne(server);
        this.onBuilt();
      } catch (error) {
        this.onError(server, error);
      }
      for (const resolve of callbacks) resolve();
    }
    this.isBuilding = false;
  }

  /** Repeats the build if the server was removed during it, so that name conflicts with a removed server are not published. */
  private *buildOne(server: string): Steps {
    let removal: object | undefined;
    do {
      removal = this.removals.get(server);
      yield* this.build(server);
    } while (this.removals.get(server) !== removal);
    this.removals.delete(server);
  }
}
