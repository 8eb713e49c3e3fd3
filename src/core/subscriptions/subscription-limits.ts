import type { AddedSubscription, NewSubscription, SubscriptionTable } from './subscription-table.js';

/** Maximum numbers of subscriptions. Infinity where there is no limit. */
export interface SubscriptionLimits {
  readonly perSubscriber: number;
  /**
   * For all sessions of one principal together. `perSubscriber` is a limit of its own, so that a client that lost its
   * session gets as many in its next one.
   */
  readonly perPrincipal: number;
  readonly perServer: number;
  readonly total: number;
}

export interface ReachedLimit {
  readonly which: keyof SubscriptionLimits;
  readonly limit: number;
}

/**
 * Adds the row unless a limit is reached. The row counts at once, before the server has confirmed it. The check and the
 * addition are one synchronous step, so that two clients cannot both get the last free row.
 */
export function addWithinLimits(
  table: SubscriptionTable,
  wanted: NewSubscription,
  limits: SubscriptionLimits,
  now: number,
): AddedSubscription | ReachedLimit {
  return findReachedLimit(table, wanted, limits) ?? table.add(wanted, now);
}

/** The limit that the subscription would exceed. Undefined when the subscriber has it already: it counts once. */
export function findReachedLimit(
  table: SubscriptionTable,
  wanted: NewSubscription,
  limits: SubscriptionLimits,
): ReachedLimit | undefined {
  if (table.find(wanted)) return undefined;
  const { subscriber, principal, server } = wanted;
  const { perSubscriber, perPrincipal, perServer, total } = limits;
  if (table.countOfSubscriber(subscriber) >= perSubscriber)
    return { which: 'perSubscriber', limit: perSubscriber };
  if (principal !== undefined && table.countOfPrincipal(principal) >= perPrincipal)
    return { which: 'perPrincipal', limit: perPrincipal };
  if (table.countOfServer(server) >= perServer) return { which: 'perServer', limit: perServer };
  if (table.size >= total) return { which: 'total', limit: total };
  return undefined;
}
