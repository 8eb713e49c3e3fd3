import { Logger } from '@nestjs/common';
import { TokenBucket } from '../../lib/token-bucket/token-bucket.js';

/** The rate limit for warnings with the same message: three at once, then one per interval. */
const LOGGED_WARNINGS = { burst: 3, refill: 1, intervalMs: 10_000 };

/** Logs the protocol errors of a server on one link, with a rate limit for each message. */
export class LinkWarnings {
  private readonly logger = new Logger('Backend');
  private readonly buckets = new Map<string, TokenBucket>();

  constructor(
    private readonly server: string,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** `message` is one of a fixed set of texts; `cause` says more about this occurrence. */
  add(message: string, cause?: string): void {
    const bucket = this.buckets.get(message) ?? new TokenBucket(LOGGED_WARNINGS);
    this.buckets.set(message, bucket);
    const suppressed = bucket.take(this.now());
    // Undefined if this warning exceeds the rate; otherwise the number of warnings that were not logged before it.
    if (suppressed === undefined) return;
    this.logger.warn({
      message,
      server: this.server,
      ...(cause !== undefined && { cause }),
      ...(suppressed > 0 && { suppressed }),
    });
  }
}
