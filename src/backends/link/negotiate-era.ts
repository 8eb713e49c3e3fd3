import type { Era } from '../../core/errors.js';
import { eraOfFailure, notOffered, offersModern } from './discover.js';
import type { EraRecord } from './era-record.js';
import { TransportError } from './transport.js';

/**
 * How a link finds the protocol era of its server.
 * - `initialize`: the era is 2025
 * - `discover`: the era is 2026
 * - `probe` (over HTTP): the era is 2026 if the server answers `server/discover` and offers revision 2026-07-28, and 2025
 *   otherwise. The probe uses no method of the 2025 era, because a server of 2025 would execute such a request
 * - `initialize-first` (over stdio): the era is 2026 if the server refuses `initialize` and offers revision 2026-07-28, and 2025
 *   otherwise. `server/discover` is not sent first, because some servers exit on an unknown method. It is not sent to a second
 *   process either, because the server would then be started twice
 */
export type Opening = 'initialize' | 'discover' | 'probe' | 'initialize-first';

/** Timeout of a probe. After it, the gateway sends `initialize`, unless the recorded era is 2026. */
const PROBE_TIMEOUT_MS = 5000;

interface OpeningSteps {
  /** Opens the link in the era 2025. */
  initialize(): Promise<void>;
  /** Opens the link in the era 2026. Rejects when the server does not offer it; the link can then be opened in 2025. */
  discover(timeoutMs: number): Promise<void>;
}

interface NegotiationOptions {
  readonly opening: Opening;
  readonly connectTimeoutMs: number;
  readonly record: EraRecord;
  /** Whether the probe is left out if the recorded era is 2025. True for the links of single sessions. */
  readonly trustsRecord: boolean;
}

/** Opens a link and returns its era. */
export async function negotiateEra(steps: OpeningSteps, options: NegotiationOptions): Promise<Era> {
  const { opening, connectTimeoutMs } = options;
  if (opening === 'probe') return probe(steps, options);
  try {
    if (opening !== 'discover') {
      await steps.initialize();
      return '2025';
    }
  } catch (error) {
    if (opening === 'initialize' || !offersModern(error)) throw error;
  }
  await steps.discover(connectTimeoutMs).catch((error: Error) => {
    throw eraOfFailure(error) === '2025' ? notOffered(error) : error;
  });
  return '2026';
}

async function probe(steps: OpeningSteps, options: NegotiationOptions): Promise<Era> {
  const { connectTimeoutMs, record, trustsRecord } = options;
  if (!trustsRecord || record.recent() !== '2025') {
    const failure = await steps.discover(Math.min(PROBE_TIMEOUT_MS, connectTimeoutMs / 2)).then(
      () => undefined,
      (error: Error) => ({ error }),
    );
    if (!failure) return '2026';
    const { error } = failure;
    const isUnreachable = error instanceof TransportError && error.fault === 'unreachable';
    const era = eraOfFailure(error) ?? record.recent();
    // To an unreachable server, `initialize` would fail too. At a server of 2026, it would open the link in the wrong era.
    if (isUnreachable || era === '2026') throw error;
  }
  await steps.initialize();
  return '2025';
}
