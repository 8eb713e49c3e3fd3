import type { AddedSubscription, NewSubscription, SubscriptionTable } from './subscription-table.js';

/** Maximum numbers of subscriptions. Infinity where there is no limit. */
export interface SubscriptionLimits {
  readonly perSubscriber: number;
  /**
   * Maximum for all subscribers of one principal together. If it is higher than `perSubscriber`, a client that lost its
   * session can subscribe again in its next session, although the rows of the lost session still exist and count.
   */
  readonly perPrincipal: number;
  readonly perServer: number;
  readonly total: number;
}

export interface ReachedLimit {
  readonly which: keyof SubscriptionLimits;
  /** The value of this limit. */
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

/**
 * The limit that the wanted subscription would exceed, if any. A subscription that the subscriber has already exceeds
 * none, because it is not added again.
 */
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
