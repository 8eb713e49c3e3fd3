import type { Era } from '../../core/errors.js';
import { MAX_VERDICT_AGE_MS } from './era-record.js';
import type { Link } from './link.js';

/** A link that can be replaced while the server is reachable. */
export interface ExpirableLink extends Link {
  /** Closes the link after the responses to its requests in flight. The next link is opened without delay. */
  expire(): void;
  /**
   * Sets a check that runs at each gap of the notification stream. The check resolves with false when the link is no longer in
   * use. If the gap arose because the server no longer offers the stream, it is reported only if the check resolves with true.
   */
  checkGaps(check: () => Promise<boolean>): void;
}

/**
 * Probes a server of the 2025 era again while its link is open: after each gap of the notification stream and, if the link is
 * shared, at intervals.
 * If a newer version of the server speaks both eras, the link still works, but lacks the notifications and requests that the
 * server has only in the 2026 era. When the server offers the 2026 era, the link expires. The next link fetches all lists and
 * begins all subscriptions anew. Clients would get the same updates twice if a gap of the expired link were reported too, so the
 * check of `checkGaps` then resolves with false.
 */
export function watchEra(
  link: ExpirableLink,
  probe: (signal: AbortSignal) => Promise<Era | undefined>,
  { atIntervals }: { readonly atIntervals: boolean },
): void {
  if (link.era.name === '2026') return;
  const closing = new AbortController();
  let probing: Promise<boolean> | undefined;
  /** Resolves with whether the link is still in use. */
  const check = async (): Promise<boolean> => {
    const era = await probe(closing.signal).catch(() => undefined);
    probing = undefined;
    if (closing.signal.aborted) return false;
    if (era === '2026') link.expire();
    return era !== '2026';
  };
  const checkOnce = (): Promise<boolean> => (probing ??= check());
  const timer = atIntervals ? setInterval(() => void checkOnce(), MAX_VERDICT_AGE_MS).unref() : undefined;
  link.checkGaps(checkOnce);
  void link.closed.then(() => {
    clearInterval(timer);
    closing.abort();
  });
}
