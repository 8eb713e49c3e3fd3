import { createHash } from 'node:crypto';
import type { Upstream } from '../core/subscriptions/upstream-reconciler.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import { WorkerPool } from '../lib/queues/worker-pool.js';

/** Fraction of the interval by which polls are spread, so that those of many resources do not coincide. */
const JITTER = 0.2;
/** After failures a resource is polled less often, up to this multiple of the interval. */
const MAX_BACKOFF_FACTOR = 32;
const MAX_CONCURRENT_POLLS = 4;
/** Digest of a resource of which every read has failed. The first successful read then counts as a change. */
const UNREAD = '';

interface PolledResource {
  /** Digest of the content at the last successful read. Undefined before the first poll. */
  digest: string | undefined;
  failures: number;
  timer: NodeJS.Timeout | undefined;
}

/** For servers without subscriptions: reads the subscribed resources at intervals and reports changed contents. */
export class PollingUpstream implements Upstream {
  private readonly polled = new Map<string, PolledResource>();
  private readonly polls = new WorkerPool<string>(MAX_CONCURRENT_POLLS, (uri) => this.pollAgain(uri));

  constructor(
    private readonly read: (uri: string) => Promise<JsonText>,
    private readonly onChange: (uri: string) => void,
    private readonly intervalMs: number,
  ) {}

  /** Resolves after the first poll. The next poll is compared with the content that it read. */
  async subscribe(uri: string): Promise<void> {
    const resource: PolledResource = { digest: undefined, failures: 0, timer: undefined };
    // A resource that was removed and is listed again may still be polled.
    clearTimeout(this.polled.get(uri)?.timer);
    this.polled.set(uri, resource);
    await this.poll(uri, resource);
  }

  unsubscribe(uri: string): Promise<void> {
    clearTimeout(this.polled.get(uri)?.timer);
    this.polled.delete(uri);
    this.polls.delete(uri);
    return Promise.resolve();
  }

  stop(): void {
    this.polls.clear();
    for (const uri of this.polled.keys()) void this.unsubscribe(uri);
  }

  private async poll(uri: string, resource: PolledResource): Promise<void> {
    try {
      const { text } = await this.read(uri);
      const digest = createHash('sha256').update(text).digest('base64');
      const before = resource.digest;
      resource.digest = digest;
      resource.failures = 0;
      if (this.isCurrent(uri, resource) && before !== undefined && before !== digest) this.onChange(uri);
    } catch {
      // Not reported: clients that read the resource get the error themselves.
      resource.failures++;
      resource.digest ??= UNREAD;
    }
    if (this.isCurrent(uri, resource)) this.schedule(uri, resource);
  }

  private schedule(uri: string, resource: PolledResource): void {
    const interval = this.intervalMs * Math.min(2 ** resource.failures, MAX_BACKOFF_FACTOR);
    const delay = interval * (1 + JITTER * (2 * Math.random() - 1));
    resource.timer = setTimeout(() => this.polls.add(uri), delay).unref();
  }

  private async pollAgain(uri: string): Promise<void> {
    const resource = this.polled.get(uri);
    if (resource) await this.poll(uri, resource);
  }

  /** False after `unsubscribe`, and after a new `subscribe` replaced the entry. */
  private isCurrent(uri: string, resource: PolledResource): boolean {
    return this.polled.get(uri) === resource;
  }
}
