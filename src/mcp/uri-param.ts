import { GatewayError } from '../core/errors.js';
import type { Params } from './json-rpc.js';
import { requireString } from './params.js';

const LONGEST_URI = 8192;

/** The URI that a request is about. */
export function requireUri(params: Params | undefined): string {
  const uri = requireString(params, 'uri');
  if (Buffer.byteLength(uri) > LONGEST_URI)
    throw new GatewayError('invalid-params', `uri must not be longer than ${LONGEST_URI} bytes`);
  return uri;
}
