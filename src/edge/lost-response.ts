import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { GatewayError } from '../core/errors.js';
import { tryParseJson } from '../lib/json-text/json-value.js';
import { eventFrame, type EventFrame } from '../mcp/event-frame.js';
import { JsonRpcError } from '../mcp/json-rpc-error.js';
import { errorMessage, isRequestId } from '../mcp/json-rpc.js';

/** Maximum bytes of a request id, as JSON, in a stream name. A longer id is left out. */
const MAX_ID_BYTES = 64;

/**
 * The name of a response stream, which contains the id of its request. A client that resumes the stream sends the name
 * in Last-Event-ID. After a restart, the gateway has no other trace of the request, but needs its id to respond with an
 * error.
 */
export function responseStreamName(number: number, requestId: RequestId | undefined): string {
  const name = number.toString(36);
  const id = JSON.stringify(requestId);
  if (requestId === undefined || Buffer.byteLength(id) > MAX_ID_BYTES) return name;
  return `${name}-${Buffer.from(id).toString('base64url')}`;
}

/** The request id in the name of a response stream. Undefined for the stream of a batch, or if the id was left out. */
export function requestIdOfStream(streamName: string): RequestId | undefined {
  const separator = streamName.indexOf('-');
  if (separator === -1) return undefined;
  const id = tryParseJson(Buffer.from(streamName.slice(separator + 1), 'base64url').toString());
  return isRequestId(id) ? id : undefined;
}

/** The error for a client that resumes a response stream whose response does not exist any more. */
export function responseLostFrame(streamName: string): EventFrame {
  const error = new GatewayError(
    'response-lost',
    'RESPONSE_LOST: the gateway was restarted while it processed the request, or does not keep the response any more; the server may have processed the request',
    { code: 'RESPONSE_LOST' },
  );
  const message = errorMessage(requestIdOfStream(streamName), JsonRpcError.from(error).text);
  return eventFrame(message, undefined, streamName);
}
