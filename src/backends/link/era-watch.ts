import type { Era } from '../../core/errors.js';
import { MAX_VERDICT_AGE_MS } from './era-record.js';
import type { Link } from './link.js';

/** A link that can be replaced while the server is reachable. */
export interface ExpirableLink extends Link {
  /** Closes the link after the responses to its requests in flight. The next link is opened without delay. */
  expire(): void;
}

/**
 * Probes a server of the 2025 era again while its link is open: at intervals, and after each gap of the notification stream.
 * If a newer version of the server speaks both eras, the link still works, but lacks the notifications and requests that the
 * server has only in the 2026 era. When the server offers the 2026 era, the link expires.
 */
export function watchEra(
  link: ExpirableLink,
  probe: (signal: AbortSignal) => Promise<Era | undefined>,
): void {
  if (link.era.name === '2026') return;
  const closing = new AbortController();
  let isProbing = false;
  const check = async (): Promise<void> => {
    if (isProbing) return;
    isProbing = true;
    const era = await probe(closing.signal).catch(() => undefined);
    isProbing = false;
    if (era === '2026' && !closing.signal.aborted) link.expire();
  };
  const timer = setInterval(() => void check(), MAX_VERDICT_AGE_MS).unref();
  link.onGap(() => void check());
  void link.closed.then(() => {
    clearInterval(timer);
    closing.abort();
  });
}
