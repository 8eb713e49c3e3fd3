import { normalizeUri } from '../core/resources/equivalent-uri.js';
import type { SubscriptionTable } from '../core/subscriptions/subscription-table.js';
import type { Registry } from '../registry/registry.service.js';
import { listOf } from './wanted-resources.js';

/**
 * The own URIs under which subscribers know a resource that its server updated: the URI of the update, or subscribed URIs
 * that are equivalent by RFC 3986. Empty without subscribers. Equivalent URIs that the server lists as different resources
 * stay different.
 */
export function knownUris(
  { catalog }: Registry,
  table: SubscriptionTable,
  server: string,
  uri: string,
): readonly string[] {
  const normal = normalizeUri(uri);
  const equivalents = table.equivalentTargets(server, normal).map((target) => target.uri);
  /** Whether subscribers can know the resource under no other URI than that of the update. */
  const isOnlyForm =
    equivalents.length === 0 ? normal === uri : equivalents.every((equivalent) => equivalent === uri);
  if (isOnlyForm || listOf(catalog, server).find(uri))
    return table.covering(server, uri).length > 0 ? [uri] : [];
  if (equivalents.length > 0) return equivalents;
  // Only patterns are left. Subscribers get the normal form if the server lists it, or if no pattern matches the URI.
  const isNormalListed = listOf(catalog, server).find(normal) !== undefined;
  const known = isNormalListed || table.covering(server, uri).length === 0 ? normal : uri;
  return table.covering(server, known).length > 0 ? [known] : [];
}
