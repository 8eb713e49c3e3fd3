import type { Limits } from '../config/limits.js';
import type { RefusingLimit } from '../metrics/metric-labels.js';
import { MemoryQuotas } from '../state/memory-quotas.js';
import { PrincipalQuota } from '../state/principal-quota.js';
import type { Quotas } from '../state/quotas.js';

/** The limits per principal that apply to calls and links. All backends share them. */
export interface BackendQuotas {
  /** Calls in flight, counted over all servers. */
  readonly calls: PrincipalQuota;
  /** Child processes of links that are not shared (`isolation: session`). */
  readonly processes: PrincipalQuota;
  /** Maximum queued calls of one principal at one server. */
  readonly queuedPerPrincipal: number;
  /** Whether some slots of each server stay free for principals that hold no slot. True only if clients authenticate. */
  readonly keepsNewcomerReserve: () => boolean;
  /** To be called when a limit has refused a call. */
  refused(limit: RefusingLimit): void;
}

export function backendQuotas(
  quotas: Quotas,
  limits: Pick<Limits, 'callsPerPrincipal' | 'processesPerPrincipal' | 'queuedPerPrincipal'>,
  refused: (limit: RefusingLimit) => void,
  keepsNewcomerReserve: () => boolean,
): BackendQuotas {
  const { callsPerPrincipal, processesPerPrincipal, queuedPerPrincipal } = limits;
  const calls = { name: 'calls', limit: callsPerPrincipal, noun: 'calls in flight' };
  const processes = { name: 'processes', limit: processesPerPrincipal, noun: 'child processes' };
  return {
    calls: new PrincipalQuota(quotas, calls, () => refused('callsPerPrincipal')),
    processes: new PrincipalQuota(quotas, processes, () => refused('processesPerPrincipal')),
    queuedPerPrincipal,
    keepsNewcomerReserve,
    refused,
  };
}

/** Quotas that refuse nothing. */
export const unlimitedQuotas = (): BackendQuotas =>
  backendQuotas(
    new MemoryQuotas(),
    { callsPerPrincipal: Infinity, processesPerPrincipal: Infinity, queuedPerPrincipal: Infinity },
    () => {},
    () => false,
  );
