import type { Era } from '../../core/errors.js';

/** How long a recorded era is valid. Limited, because a newer version of the server may speak another era. */
export const MAX_VERDICT_AGE_MS = 600_000;

/** The protocol era of a link. Times are milliseconds since the epoch. */
export interface LinkEra {
  readonly name: Era;
  /** Since when every handshake with the server has resulted in this era. */
  readonly since: number;
}

/** The protocol era in which a link to one server was last opened. All links of the server share the record. */
export class EraRecord {
  private current: LinkEra | undefined;
  private checkedAt = -Infinity;

  /** To be called when a link was opened in this era. */
  set(name: Era, now = Date.now()): LinkEra {
    if (this.current?.name !== name) this.current = { name, since: now };
    this.checkedAt = now;
    return this.current;
  }

  /** The era of the last link, unless that was opened too long ago. */
  recent(now = Date.now()): Era | undefined {
    return now - this.checkedAt < MAX_VERDICT_AGE_MS ? this.current?.name : undefined;
  }
}
