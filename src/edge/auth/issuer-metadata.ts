import { isSecureUrl } from '../../config/secure-url.js';
import { fetchJson } from './fetch-json.js';

/** Fetches the issuer's metadata and returns the URL of its keys. Rejects if no metadata URL has valid metadata. */
export async function discoverJwksUri(issuer: string, signal: AbortSignal): Promise<string> {
  const failures: Error[] = [];
  for (const url of metadataUrls(issuer)) {
    try {
      return jwksUriIn(await fetchJson(url, signal), issuer);
    } catch (error) {
      failures.push(error as Error);
    }
  }
  throw new AggregateError(failures, failures.map(({ message }) => message).join('; '));
}

/**
 * The possible URLs of metadata. OpenID Connect puts the well-known part after the issuer's path, RFC 8414 before it.
 */
export function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
}

/** The URL of the keys in the metadata. Throws if the metadata belongs to another issuer (RFC 8414, 3.3). */
function jwksUriIn(metadata: unknown, issuer: string): string {
  const { issuer: metadataIssuer, jwks_uri: uri } = (metadata ?? {}) as Record<string, unknown>;
  if (metadataIssuer !== issuer) throw new Error(`the metadata of ${issuer} name another issuer`);
  if (typeof uri !== 'string' || !isSecureUrl(uri))
    throw new Error(`the metadata of ${issuer} contain no jwks_uri with a secure URL`);
  return uri;
}
