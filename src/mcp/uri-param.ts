import { GatewayError } from '../core/errors.js';
import { isUriTooLong, MAX_URI_BYTES } from '../core/resources/resource-uri.js';
import type { Params } from './json-rpc.js';
import { requireString } from './params.js';

/** The URI that a request is about. */
export function requireUri(params: Params | undefined): string {
  const uri = requireString(params, 'uri');
  if (isUriTooLong(uri))
    throw new GatewayError('invalid-params', `uri must not be longer than ${MAX_URI_BYTES} bytes`);
  return uri;
}
