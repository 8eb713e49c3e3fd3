import { Logger } from '@nestjs/common';
import { Backoff } from '../../lib/backoff/backoff.js';
import { METHODS, type Kind } from './list-kinds.js';

/** Delays before a list that could not be fetched is requested again. */
const RETRY_LIMITS = { firstMs: 5000, maxMs: 60_000 };
/** Longer messages of servers are cut. */
const MAX_MESSAGE_LENGTH = 200;

interface ListFailure {
  readonly message: string;
  readonly backoff: Backoff;
}

/**
 * The lists of one server that could not be fetched when they were last requested. Logs when a list fails for the first time,
 * and when it succeeds again.
 */
export class ListFailures {
  private readonly logger = new Logger('Sync');
  private readonly byKind = new Map<Kind, ListFailure>();

  constructor(
    private readonly server: string,
    /** Called when `reason` has changed. */
    private readonly onChange: () => void,
  ) {}

  get size(): number {
    return this.byKind.size;
  }

  has(kind: Kind): boolean {
    return this.byKind.has(kind);
  }

  /** The failures as text for operators, such as `tools/list failed: fetch failed`; undefined when there are none. */
  get reason(): string | undefined {
    if (this.byKind.size === 0) return undefined;
    return Array.from(this.byKind, ([kind, { message }]) => `${METHODS[kind]} failed: ${message}`).join('; ');
  }

  /** Records that a list could not be fetched. Returns the delay in milliseconds after which it is to be fetched again. */
  add(kind: Kind, error: Error): number {
    const { server } = this;
    const previous = this.byKind.get(kind);
    const message = error.message.slice(0, MAX_MESSAGE_LENGTH);
    const backoff = previous?.backoff ?? new Backoff(RETRY_LIMITS);
    this.byKind.set(kind, { message, backoff });
    if (!previous) this.logger.warn({ message: `${METHODS[kind]} failed`, server, cause: message });
    if (previous?.message !== message) this.onChange();
    return backoff.next();
  }

  /** To be called whenever the list was fetched. */
  remove(kind: Kind): void {
    const { server } = this;
    if (!this.byKind.delete(kind)) return;
    this.logger.log({ message: `${METHODS[kind]} succeeds again`, server });
    this.onChange();
  }
}
