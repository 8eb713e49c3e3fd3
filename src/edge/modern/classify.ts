import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../core/errors.js';
import type { JsonDocument } from '../../lib/json-text/json-document.js';
import { badEnvelope, claimedVersion, claimsEnvelope, readEnvelope } from '../../mcp/envelope.js';
import { readMessage, type Inbound, type Params } from '../../mcp/json-rpc.js';
import { isModernVersion } from '../../mcp/revisions/modern.js';
import { headerMismatch } from '../../mcp/standard-headers.js';

/** The era of a message: `modern` is the 2026 era, `legacy` the 2025 era. */
export type MessageEra = 'legacy' | 'modern';

/**
 * Whether the header MCP-Protocol-Version names a revision of the 2026 era. The era of a request does not follow from this
 * header, but from the envelope of the request: see `classify`.
 */
export const namesModernVersion = ({ 'mcp-protocol-version': version }: IncomingHttpHeaders): boolean =>
  isModernVersion(String(version));

/**
 * The era of one message at an endpoint that serves both eras. Throws if header and body of a request contradict, or if a
 * response comes without a session.
 */
export function classify(message: Inbound, headers: IncomingHttpHeaders): MessageEra {
  if (message.kind === 'request') return classifyRequest(message.method, message.params, headers);
  if (message.kind === 'notification')
    return claimsEnvelope(message.params) || namesModernVersion(headers) ? 'modern' : 'legacy';
  if (message.kind === 'response' && headers['mcp-session-id'] === undefined)
    throw new GatewayError('invalid-request', 'Invalid request: a response belongs to a session');
  return 'legacy';
}

/** Throws if the header of a batch, or one of its messages, is of the 2026 era, which has no batches. */
export function requireLegacyBatch(body: JsonDocument, headers: IncomingHttpHeaders): void {
  if (namesModernVersion(headers) || body.elements()?.some(isModernElement))
    throw new GatewayError('invalid-request', 'Invalid request: revision 2026-07-28 has no batches');
}

function isModernElement(element: JsonDocument): boolean {
  const message = readMessage(element);
  return 'params' in message && claimsEnvelope(message.params);
}

function classifyRequest(
  method: string,
  params: Params | undefined,
  headers: IncomingHttpHeaders,
): MessageEra {
  const isModernHeader = namesModernVersion(headers);
  if (method === 'initialize' && !hasModernEnvelope(params)) {
    if (isModernHeader)
      throw headerMismatch('initialize does not exist in the revision that MCP-Protocol-Version names');
    return 'legacy';
  }
  if (claimsEnvelope(params)) return 'modern';
  if (isModernHeader) throw badEnvelope('the envelope of the request is missing');
  return 'legacy';
}

/**
 * Whether the params have a complete envelope of the 2026 era. With an incomplete one, `initialize` stays in the 2025
 * era.
 */
function hasModernEnvelope(params: Params | undefined): boolean {
  if (!isModernVersion(claimedVersion(params) ?? '')) return false;
  try {
    readEnvelope(params, undefined);
    return true;
  } catch {
    return false;
  }
}
