import { createHash } from 'node:crypto';
import type { JsonText } from '../lib/json-text/json-text.js';
import type { Upstream } from '../core/subscriptions/upstream-reconciler.js';
import { WorkerPool } from '../lib/queues/worker-pool.js';

/** Looks are spread, so that those of many resources do not come all at once. */
const JITTER = 0.2;
/** After failures the looks come less often, down to this part of them. */
const MOST_BACKOFF = 32;
/** Looks at one server at once; the others wait. */
const MOST_LOOKS = 4;
/** No digest is this: whatever is seen after a look that failed is something else. */
const UNSEEN = '';

interface Watched {
  /** Of what was seen last; undefined before the first look. */
  digest: string | undefined;
  failures: number;
  timer: NodeJS.Timeout | undefined;
}

/** Stands in for a server that tells of no changes: looks now and then, and tells when it sees something else. */
export class PollingUpstream implements Upstream {
  private readonly watched = new Map<string, Watched>();
  private readonly looks = new WorkerPool<string>(MOST_LOOKS, (uri) => this.lookAgain(uri));

  constructor(
    private readonly read: (uri: string) => Promise<JsonText>,
    private readonly changed: (uri: string) => void,
    private readonly pollMs: number,
  ) {}

  /** What it sees first is what later looks are compared with; only then may the client go on. */
  async subscribe(uri: string): Promise<void> {
    const watched: Watched = { digest: undefined, failures: 0, timer: undefined };
    // One that was gone and is back may be looked at still.
    clearTimeout(this.watched.get(uri)?.timer);
    this.watched.set(uri, watched);
    await this.look(uri, watched);
  }

  unsubscribe(uri: string): Promise<void> {
    clearTimeout(this.watched.get(uri)?.timer);
    this.watched.delete(uri);
    this.looks.delete(uri);
    return Promise.resolve();
  }

  stop(): void {
    this.looks.clear();
    for (const uri of this.watched.keys()) void this.unsubscribe(uri);
  }

  private async look(uri: string, watched: Watched): Promise<void> {
    try {
      const { text } = await this.read(uri);
      const digest = createHash('sha256').update(text).digest('base64');
      const before = watched.digest;
      watched.digest = digest;
      watched.failures = 0;
      if (this.isWatched(uri, watched) && before !== undefined && before !== digest) this.changed(uri);
    } catch {
      // A server that cannot be read from says so to whoever reads; here it is only asked less often.
      watched.failures++;
      watched.digest ??= UNSEEN;
    }
    if (this.isWatched(uri, watched)) this.plan(uri, watched);
  }

  private plan(uri: string, watched: Watched): void {
    const pause = this.pollMs * Math.min(2 ** watched.failures, MOST_BACKOFF);
    const delay = pause * (1 + JITTER * (2 * Math.random() - 1));
    watched.timer = setTimeout(() => this.looks.add(uri), delay).unref();
  }

  private async lookAgain(uri: string): Promise<void> {
    const watched = this.watched.get(uri);
    if (watched) await this.look(uri, watched);
  }

  private isWatched(uri: string, watched: Watched): boolean {
    return this.watched.get(uri) === watched;
  }
}
