import { Logger } from '@nestjs/common';

/** How many warnings of one kind are logged at once. After that, one per interval. */
const INITIAL_WARNINGS = 3;
const WARNING_INTERVAL_MS = 10_000;

interface WarningKind {
  logged: number;
  /** Warnings since the last one that was logged. */
  suppressed: number;
  lastAt: number;
}

/** Logs what a server does wrong on one link, rate-limited by kind. */
export class LinkWarnings {
  private readonly logger = new Logger('Backend');
  private readonly kinds = new Map<string, WarningKind>();

  constructor(
    private readonly server: string,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** `message` is one of a fixed set of texts; `cause` says more about this occurrence. */
  add(message: string, cause?: string): void {
    const kind = this.kinds.get(message) ?? { logged: 0, suppressed: 0, lastAt: 0 };
    this.kinds.set(message, kind);
    if (kind.logged >= INITIAL_WARNINGS && this.now() - kind.lastAt < WARNING_INTERVAL_MS) {
      kind.suppressed++;
      return;
    }
    const { suppressed } = kind;
    this.kinds.set(message, { logged: kind.logged + 1, suppressed: 0, lastAt: this.now() });
    this.logger.warn({
      message,
      server: this.server,
      ...(cause !== undefined && { cause }),
      ...(suppressed > 0 && { suppressed }),
    });
  }
}
