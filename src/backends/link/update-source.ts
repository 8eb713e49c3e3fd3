import type { SubscribeMode } from '../../config/common-server-config.js';
import type { Link } from './link.js';

/**
 * How updates of the resources of a server reach the gateway.
 * - `subscriptions`: the gateway subscribes, and the server sends notifications.
 *
 * Without subscriptions or without a notification stream:
 * - `polling`: a poll interval is configured, and the gateway polls
 * - `unsolicited`: without a poll interval, if there is a notification stream: the server may send updates on its own
 * - `none`: without a poll interval and without a stream, so that no updates can come
 */
export type UpdateSource = 'subscriptions' | 'polling' | 'unsolicited' | 'none';

type UpdatingLink = Pick<Link, 'facts' | 'notificationStream' | 'refusesSubscriptions'>;

/** Whether the gateway subscribes at the server. `mode` is the setting `subscribe` of the server. */
export function usesSubscriptions(
  { facts, refusesSubscriptions }: UpdatingLink,
  mode: SubscribeMode,
): boolean {
  const { resources } = facts.capabilities;
  if (mode === 'never' || refusesSubscriptions || !resources) return false;
  return mode === 'try' || resources.subscribe === true;
}

export function updateSourceOf(
  link: UpdatingLink,
  mode: SubscribeMode,
  pollMs: number | undefined,
): UpdateSource {
  const canNotify = link.notificationStream !== 'none';
  if (canNotify && usesSubscriptions(link, mode)) return 'subscriptions';
  if (pollMs !== undefined) return 'polling';
  return canNotify ? 'unsolicited' : 'none';
}
