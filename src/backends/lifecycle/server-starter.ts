import type { Link } from '../link/link.js';
import { TransportError } from '../link/transport.js';
import type { ServerKind } from './retry-delays.js';
import type { StartSlots } from './start-slots.js';

/** Opens links to one server, within the limit of servers that start at the same time, and counts the starts. */
export class ServerStarter {
  /** Number of started processes; for an HTTP server, number of opened links. */
  private starts = 0;
  /** When the current attempt began; undefined while there is none. */
  private startedAt: number | undefined;

  constructor(
    private readonly connect: (signal: AbortSignal) => Promise<Link>,
    private readonly kind: ServerKind,
    private readonly slots: StartSlots,
  ) {}

  /** How many processes were started after the first; for an HTTP server, how many links were opened after the first. */
  get restarts(): number {
    return Math.max(0, this.starts - 1);
  }

  /** How long the current attempt has run; undefined while there is none, or it waits for a slot. */
  get runningMs(): number | undefined {
    return this.startedAt === undefined ? undefined : performance.now() - this.startedAt;
  }

  /** Opens a link. If it is urgent, the attempt does not wait for a slot. */
  open(signal: AbortSignal, isUrgent: boolean): Promise<Link> {
    return isUrgent ? this.start(signal) : this.slots.run(() => this.start(signal), signal);
  }

  private async start(signal: AbortSignal): Promise<Link> {
    this.startedAt = performance.now();
    try {
      const link = await this.connect(signal);
      this.starts++;
      return link;
    } catch (error) {
      // A process that was started and failed to initialize counts as a start.
      if (this.kind === 'process' && !isSpawnError(error)) this.starts++;
      throw error;
    } finally {
      this.startedAt = undefined;
    }
  }
}

/** Whether the attempt failed before a process was started. */
function isSpawnError(error: unknown): boolean {
  const innerError = error instanceof Error ? error.cause : undefined;
  return innerError instanceof TransportError && innerError.details.spawnCode !== undefined;
}
