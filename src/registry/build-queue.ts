import { runSliced, type Steps } from '../lib/slices/run-sliced.js';
import { sliceScheduler } from '../lib/slices/slices.js';

/**
 * Builds one server after the other, in slices. A server that is added while it waits is built once; one that is added
 * while it is being built is built again. A build that fits into one slice is finished when `add` returns.
 */
export class BuildQueue {
  /** By server: the callbacks that resolve its `add` calls. */
  private readonly waiting = new Map<string, (() => void)[]>();
  /** By server: its last removal, a new object each time. `buildOne` compares it to detect a removal during the build. */
  private readonly removals = new Map<string, object>();
  private isBuilding = false;
  private lastRun: Promise<void> = Promise.resolve();

  constructor(
    private readonly build: (server: string) => Steps,
    private readonly onBuilt: (server: string) => void,
    private readonly onError: (server: string, error: unknown) => void,
  ) {}

  /** Servers that were removed since their last build began. What was built for them is outdated. */
  get removed(): Iterable<string> {
    return this.removals.keys();
  }

  /** Queues a build of the server and resolves when that build has ended. A build that is already running does not count. */
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
        this.onBuilt(server);
      } catch (error) {
        this.onError(server, error);
      }
      for (const resolve of callbacks) resolve();
    }
    this.isBuilding = false;
  }

  /**
   * Builds again if the server was removed meanwhile: the first result still contains it, and its conflicts with names of
   * other servers.
   */
  private *buildOne(server: string): Steps {
    let removal: object | undefined;
    do {
      removal = this.removals.get(server);
      yield* this.build(server);
    } while (this.removals.get(server) !== removal);
    this.removals.delete(server);
  }
}
