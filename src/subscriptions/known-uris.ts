import { normalizeUri } from '../core/resources/equivalent-uri.js';
import type { SubscriptionTable } from '../core/subscriptions/subscription-table.js';
import type { Registry } from '../registry/registry.service.js';
import { listOf } from './wanted-resources.js';

/**
 * The own URIs under which clients have subscribed to a resource that its server updated. `uri` is the URI in the
 * update. The subscribed URIs may have another form that is equivalent by RFC 3986. Empty if there are no subscribers.
 * Equivalent URIs that the server lists as different resources stay different.
 */
export function knownUris(
  { catalog }: Registry,
  table: SubscriptionTable,
  server: string,
  uri: string,
): readonly string[] {
  const isListed = (form: string): boolean => listOf(catalog, server).find(form) !== undefined;
  const isCovered = (form: string): boolean => table.covering(server, form).length > 0;
  const onlyIfCovered = (form: string): readonly string[] => (isCovered(form) ? [form] : []);

  const normalForm = normalizeUri(uri);
  const subscribed = table.equivalentTargets(server, normalForm).map((target) => target.uri);
  const hasOtherForm = subscribed.length === 0 ? normalForm !== uri : subscribed.some((form) => form !== uri);
  if (!hasOtherForm || isListed(uri)) return onlyIfCovered(uri);
  if (subscribed.length > 0) return subscribed;
  // No subscription names this resource, so only patterns can cover it. Their subscribers know the form that the server lists.
  if (isListed(normalForm)) return onlyIfCovered(normalForm);
  return onlyIfCovered(isCovered(uri) ? uri : normalForm);
}
