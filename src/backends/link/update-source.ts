import type { Link } from './link.js';

/**
 * How updates of the resources of a server reach the gateway.
 * - `subscriptions`: the server takes subscriptions and notifies
 * - `polling`: the gateway polls, because the server takes no subscriptions or cannot notify
 * - `unsolicited`: the server takes no subscriptions; it may notify nevertheless
 * - `none`: no updates can come, because the server has no notification stream
 */
export type UpdateSource = 'subscriptions' | 'polling' | 'unsolicited' | 'none';

type UpdateFacts = Pick<Link, 'facts' | 'notificationStream' | 'refusesSubscriptions'>;

export const takesSubscriptions = ({ facts, refusesSubscriptions }: UpdateFacts): boolean =>
  facts.capabilities.resources?.subscribe === true && !refusesSubscriptions;

export function updateSourceOf(link: UpdateFacts, pollMs: number | undefined): UpdateSource {
  const canNotify = link.notificationStream !== 'none';
  if (canNotify && takesSubscriptions(link)) return 'subscriptions';
  if (pollMs !== undefined) return 'polling';
  return canNotify ? 'unsolicited' : 'none';
}
