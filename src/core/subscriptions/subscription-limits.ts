import type { AddedSubscription, NewSubscription, SubscriptionTable } from './subscription-table.js';

/** How many subscriptions there may be. Infinity where there is no limit. */
export interface SubscriptionLimits {
  readonly perSubscriber: number;
  /** Over all sessions of one principal, so that opening more of them is no way around. */
  readonly perPrincipal: number;
  readonly perServer: number;
  readonly total: number;
}

export interface ReachedLimit {
  readonly which: keyof SubscriptionLimits;
  readonly limit: number;
}

/**
 * Makes the subscription unless a limit is in the way. The row is the claim: it counts from here on, while the server
 * is still being asked, and removing it gives the place back at once. One step, so that no two take the last place.
 */
export function addWithinLimits(
  table: SubscriptionTable,
  asked: NewSubscription,
  limits: SubscriptionLimits,
  now: number,
): AddedSubscription | ReachedLimit {
  return findReachedLimit(table, asked, limits) ?? table.add(asked, now);
}

/** The limit that keeps this from being subscribed to. None does when it is already: that counts once. */
export function findReachedLimit(
  table: SubscriptionTable,
  asked: NewSubscription,
  limits: SubscriptionLimits,
): ReachedLimit | undefined {
  if (table.find(asked)) return undefined;
  const { subscriber, principal, server } = asked;
  const { perSubscriber, perPrincipal, perServer, total } = limits;
  if (table.countOfSubscriber(subscriber) >= perSubscriber)
    return { which: 'perSubscriber', limit: perSubscriber };
  if (principal !== undefined && table.countOfPrincipal(principal) >= perPrincipal)
    return { which: 'perPrincipal', limit: perPrincipal };
  if (table.countOfServer(server) >= perServer) return { which: 'perServer', limit: perServer };
  if (table.size >= total) return { which: 'total', limit: total };
  return undefined;
}
