import type { Era } from '../../core/errors.js';

/** How long the result of a probe is valid. Limited, because a newer version of the server may speak another era. */
export const MAX_VERDICT_AGE_MS = 600_000;

/** The protocol era of a link. Times are milliseconds since the epoch. */
export interface LinkEra {
  readonly name: Era;
  /** When the server was first found to speak this era, or configured to. */
  readonly since: number;
}

/** The protocol era that the last probe of one server has found. All links of the server share the record. */
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
