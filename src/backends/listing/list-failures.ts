import { Logger } from '@nestjs/common';
import { Backoff } from '../../lib/backoff/backoff.js';
import { METHODS, type Kind } from './list-kinds.js';

/** Delays before a list that could not be fetched is requested again, even without a list change. */
const RETRY_LIMITS = { firstMs: 5000, maxMs: 60_000 };
/** The message of a server may be long. */
const MAX_MESSAGE_LENGTH = 200;

interface ListFailure {
  readonly message: string;
  readonly backoff: Backoff;
}

/** The lists of one server that could not be fetched when they were last requested. The first failure of a list and its recovery are logged. */
export class ListFailures {
  private readonly logger = new Logger('Sync');
  private readonly byKind = new Map<Kind, ListFailure>();

  constructor(
    private readonly server: string,
    private readonly onChange: () => void,
  ) {}

  get size(): number {
    return this.byKind.size;
  }

  has(kind: Kind): boolean {
    return this.byKind.has(kind);
  }

  /** For operators: `tools/list failed: fetch failed`; undefined when there are none. */
  get reason(): string | undefined {
    if (this.byKind.size === 0) return undefined;
    return Array.from(this.byKind, ([kind, { message }]) => `${METHODS[kind]} failed: ${message}`).join('; ');
  }

  /** Returns after how many milliseconds the list is to be fetched again. */
  add(kind: Kind, error: Error): number {
    const { server } = this;
    const before = this.byKind.get(kind);
    const message = error.message.slice(0, MAX_MESSAGE_LENGTH);
    const backoff = before?.backoff ?? new Backoff(RETRY_LIMITS);
    this.byKind.set(kind, { message, backoff });
    if (!before) this.logger.warn({ message: `${METHODS[kind]} failed`, server, cause: message });
    if (before?.message !== message) this.onChange();
    return backoff.next();
  }

  /** To be called when the list was fetched. */
  remove(kind: Kind): void {
    const { server } = this;
    if (!this.byKind.delete(kind)) return;
    this.logger.log({ message: `${METHODS[kind]} succeeds again`, server });
    this.onChange();
  }
}
