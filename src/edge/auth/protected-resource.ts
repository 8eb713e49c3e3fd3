import type { JwtSettings } from '../../config/jwt-settings.js';

/** Protected resource metadata (RFC 9728). It tells a client how to get a token for this gateway. */
export interface ProtectedResource {
  readonly resource: string;
  readonly resource_name: string;
  readonly authorization_servers: readonly string[];
  readonly bearer_methods_supported: readonly string[];
  readonly scopes_supported?: readonly string[];
}

export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource';

export const protectedResource = (jwt: JwtSettings): ProtectedResource => ({
  resource: resourceOf(jwt),
  resource_name: 'Gatehouse',
  authorization_servers: [jwt.issuer],
  bearer_methods_supported: ['header'],
  ...(jwt.scopes.length > 0 && { scopes_supported: jwt.scopes }),
});

/** The URL of the metadata. The well-known part is between host and path of the resource (RFC 9728, 3.1). */
export function metadataUrl(jwt: JwtSettings): string {
  const { origin, pathname, search } = new URL(resourceOf(jwt));
  return `${origin}${RESOURCE_METADATA_PATH}${pathname === '/' ? '' : pathname}${search}`;
}

const resourceOf = ({ resource, audience }: JwtSettings): string => resource ?? audience;
