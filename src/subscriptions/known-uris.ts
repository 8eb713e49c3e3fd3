import { normalizeUri } from '../core/resources/equivalent-uri.js';
import type { SubscriptionTable } from '../core/subscriptions/subscription-table.js';
import type { Registry } from '../registry/registry.service.js';
import { listOf } from './wanted-resources.js';

/**
 * The own URIs under which clients have subscribed to a resource that its server updated. `uri` is the URI in the
 * update. The subscribed URIs may be written differently but be equivalent by RFC 3986. Empty if there are no
 * subscribers. Equivalent URIs that the server lists as different resources stay different.
 */
export function knownUris(
  { catalog }: Registry,
  table: SubscriptionTable,
  server: string,
  uri: string,
): readonly string[] {
  const normal = normalizeUri(uri);
  const equivalents = table.equivalentTargets(server, normal).map((target) => target.uri);
  const hasOtherForm =
    equivalents.length === 0 ? normal !== uri : equivalents.some((equivalent) => equivalent !== uri);
  if (!hasOtherForm || listOf(catalog, server).find(uri))
    return table.covering(server, uri).length > 0 ? [uri] : [];
  if (equivalents.length > 0) return equivalents;
  // Only patterns can cover the resource. Their subscribers know the URI as the server lists it: in normal form, if
  // that is listed. Without a listed form, the normal form counts if no pattern matches `uri`.
  const isNormalListed = listOf(catalog, server).find(normal) !== undefined;
  const knownUri = isNormalListed || table.covering(server, uri).length === 0 ? normal : uri;
  return table.covering(server, knownUri).length > 0 ? [knownUri] : [];
}
