import type { Era } from '../../core/errors.js';

/** How long the result of a probe is valid. A server may be replaced by a version that speaks another era. */
export const MAX_VERDICT_AGE_MS = 600_000;

/** The protocol era of a link. Times are milliseconds since the epoch. */
export interface LinkEra {
  readonly name: Era;
  /** When the server was first found to speak this era, or configured to. */
  readonly since: number;
}

/** The verdict of the last probe of one server, which all its links share. */
export class EraRecord {
  private current: LinkEra | undefined;
  private checkedAt = -Infinity;

  /** Records the outcome of a probe. */
  set(name: Era, now = Date.now()): LinkEra {
    if (this.current?.name !== name) this.current = { name, since: now };
    this.checkedAt = now;
    return this.current;
  }

  /** The era of the last probe, unless that was too long ago. */
  recent(now = Date.now()): Era | undefined {
    return now - this.checkedAt < MAX_VERDICT_AGE_MS ? this.current?.name : undefined;
  }
}
