import type { SubscribeMode } from '../../config/common-server-config.js';
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

export function takesSubscriptions(
  { facts, refusesSubscriptions }: UpdateFacts,
  mode: SubscribeMode,
): boolean {
  const { resources } = facts.capabilities;
  if (mode === 'never' || refusesSubscriptions || !resources) return false;
  return mode === 'try' || resources.subscribe === true;
}

export function updateSourceOf(
  link: UpdateFacts,
  mode: SubscribeMode,
  pollMs: number | undefined,
): UpdateSource {
  const canNotify = link.notificationStream !== 'none';
  if (canNotify && takesSubscriptions(link, mode)) return 'subscriptions';
  if (pollMs !== undefined) return 'polling';
  return canNotify ? 'unsolicited' : 'none';
}
