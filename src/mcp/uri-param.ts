import { GatewayError } from '../core/errors.js';
import { isTooLong, LONGEST_URI } from '../core/resources/uri-length.js';
import type { Params } from './json-rpc.js';
import { requireString } from './params.js';

/** The URI that a request is about. */
export function requireUri(params: Params | undefined): string {
  const uri = requireString(params, 'uri');
  if (isTooLong(uri))
    throw new GatewayError('invalid-params', `uri must not be longer than ${LONGEST_URI} bytes`);
  return uri;
}
