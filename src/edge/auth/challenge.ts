import type { JwtSettings } from '../../config/jwt-settings.js';
import { metadataUrl } from './protected-resource.js';

export interface BearerError {
  /** An error code of RFC 6750. */
  readonly error: 'invalid_request' | 'invalid_token' | 'insufficient_scope';
  readonly description: string;
}

/** The value of WWW-Authenticate. `bearerError` is absent for a request without a token (RFC 6750, 3.1). */
export function challenge(jwt: JwtSettings | undefined, bearerError?: BearerError): string {
  const params = jwt ? [['resource_metadata', metadataUrl(jwt)]] : [['realm', 'gatehouse']];
  if (jwt && jwt.scopes.length > 0) params.push(['scope', jwt.scopes.join(' ')]);
  if (bearerError) params.push(['error', bearerError.error], ['error_description', bearerError.description]);
  return `Bearer ${params.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
}
