import type { SubscribeMode } from '../../config/common-server-config.js';
import type { Link } from './link.js';

/**
 * How updates of the resources of a server reach the gateway.
 * - `subscriptions`: the gateway subscribes, and the server sends notifications
 * - `polling`: the gateway polls, because it does not subscribe or the server has no notification stream
 * - `unsolicited`: the gateway does not subscribe, but the server may send notifications
 * - `none`: no updates can come, because the server has no notification stream
 */
export type UpdateSource = 'subscriptions' | 'polling' | 'unsolicited' | 'none';

type UpdateFacts = Pick<Link, 'facts' | 'notificationStream' | 'refusesSubscriptions'>;

/** Whether the gateway subscribes at the server. `mode` is the setting `subscribe` of the server. */
export function usesSubscriptions(
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
  if (canNotify && usesSubscriptions(link, mode)) return 'subscriptions';
  if (pollMs !== undefined) return 'polling';
  return canNotify ? 'unsolicited' : 'none';
}
