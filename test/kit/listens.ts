import { Limits } from '../../src/config/limits.js';
import { EVERYTHING } from '../../src/core/scope.js';
import type { LinkOwners } from '../../src/edge/modern/link-owners.js';
import type { ListenRequest } from '../../src/edge/modern/listen.js';
import { Listens } from '../../src/edge/modern/listens.service.js';
import { NotificationRecipients } from '../../src/edge/notification-recipients.js';
import { StreamQuota } from '../../src/edge/stream-quota.js';
import { ANONYMOUS } from '../../src/mcp/principal.js';
import { MODERN_REVISION } from '../../src/mcp/revisions/modern.js';
import { Metrics } from '../../src/metrics/metrics.js';
import { MemoryQuotas } from '../../src/state/memory-quotas.js';

/** A request `subscriptions/listen` of an anonymous client. */
export const listenRequest = (more: Partial<ListenRequest> = {}): ListenRequest => ({
  requestId: 'listen:0',
  principal: ANONYMOUS,
  quotaKey: '127.0.0.1',
  project: undefined,
  scope: EVERYTHING,
  linkOwnerId: undefined,
  sessionHandle: undefined,
  revision: MODERN_REVISION,
  clientInfo: undefined,
  ...more,
});

/** For clients that can have no links of their own. */
export const NO_OWNERS: Pick<LinkOwners, 'of'> = { of: () => undefined };

/** The listen streams of a gateway. */
export function createListens(
  recipients = new NotificationRecipients(),
  { limits = {}, metrics = new Metrics() }: { limits?: Partial<Limits>; metrics?: Metrics } = {},
): Listens {
  const all = Object.assign(new Limits(), limits);
  const quota = new StreamQuota(all, new MemoryQuotas(), metrics);
  return new Listens(all, recipients, quota, metrics, NO_OWNERS as unknown as LinkOwners);
}
