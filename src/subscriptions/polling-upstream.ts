import { createHash } from 'node:crypto';
import type { Upstream } from '../core/subscriptions/upstream.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import { WorkerPool } from '../lib/queues/worker-pool.js';

/** Each poll is early or late by up to this fraction of the interval, so that polls of many resources do not coincide. */
const MAX_JITTER = 0.2;
/** The interval doubles with each failed poll of a resource, up to this multiple. */
const MAX_BACKOFF_FACTOR = 32;
const MAX_CONCURRENT_POLLS = 4;
/** `digest` of a resource whose reads have all failed. Its first successful read then counts as a change. */
const NEVER_READ = '';

interface PolledResource {
  /** Digest of the content at the last successful read, or `NEVER_READ`. Undefined until the first poll has ended. */
  digest: string | undefined;
  /** Number of failed polls since the last successful one. */
  failures: number;
  timer: NodeJS.Timeout | undefined;
}

/** Polls resources of a server: reads them at intervals and reports changed contents. */
export class PollingUpstream implements Upstream {
  private readonly resources = new Map<string, PolledResource>();
  private readonly pollWorkers = new WorkerPool<string>(MAX_CONCURRENT_POLLS, (uri) => this.pollAgain(uri));

  constructor(
    private readonly read: (uri: string) => Promise<JsonText>,
    private readonly onChange: (uri: string) => void,
    private readonly intervalMs: number,
  ) {}

  /** Resolves after the first poll, which only stores the content that later polls are compared with. */
  async subscribe(uri: string): Promise<void> {
    const resource: PolledResource = { digest: undefined, failures: 0, timer: undefined };
    // A resource that was removed and listed again is subscribed again. Its earlier polls may still be running.
    clearTimeout(this.resources.get(uri)?.timer);
    this.resources.set(uri, resource);
    await this.poll(uri, resource);
  }

  unsubscribe(uri: string): Promise<void> {
    clearTimeout(this.resources.get(uri)?.timer);
    this.resources.delete(uri);
    this.pollWorkers.delete(uri);
    return Promise.resolve();
  }

  stop(): void {
    this.pollWorkers.clear();
    for (const uri of this.resources.keys()) void this.unsubscribe(uri);
  }

  private async poll(uri: string, resource: PolledResource): Promise<void> {
    try {
      const { text } = await this.read(uri);
      const digest = createHash('sha256').update(text).digest('base64');
      const previous = resource.digest;
      resource.digest = digest;
      resource.failures = 0;
      const hasChanged = previous !== undefined && previous !== digest;
      if (hasChanged && this.isCurrent(uri, resource)) this.onChange(uri);
    } catch {
      // The error is not logged: clients that read the resource get it themselves.
      resource.failures++;
      resource.digest ??= NEVER_READ;
    }
    if (this.isCurrent(uri, resource)) this.schedule(uri, resource);
  }

  private schedule(uri: string, resource: PolledResource): void {
    const interval = this.intervalMs * Math.min(2 ** resource.failures, MAX_BACKOFF_FACTOR);
    const jitter = MAX_JITTER * (2 * Math.random() - 1);
    resource.timer = setTimeout(() => this.pollWorkers.add(uri), interval * (1 + jitter)).unref();
  }

  private async pollAgain(uri: string): Promise<void> {
    const resource = this.resources.get(uri);
    if (resource) await this.poll(uri, resource);
  }

  /** False after `unsubscribe`, and after a new `subscribe` replaced the entry. */
  private isCurrent(uri: string, resource: PolledResource): boolean {
    return this.resources.get(uri) === resource;
  }
}
