import { RemoteError, type Era } from '../../core/errors.js';
import { JsonText } from '../../lib/json-text/json-text.js';
import { isJsonObject } from '../../lib/json-text/json-value.js';
import { MODERN_VERSION, serverInfoIn } from '../../mcp/envelope.js';
import { SUPPORTED_VERSIONS } from '../../mcp/revisions/revision.js';
import { readHandshakeResult, type OnMemoryLimit } from './handshake-result.js';
import { UNSUPPORTED_VERSION, type SendRequest } from './link-protocol.js';
import type { ServerFacts } from './link.js';
import { TransportError } from './transport.js';

const NOT_OFFERED = `the server does not offer MCP revision ${MODERN_VERSION}`;
const UNNAMED = { name: 'unknown', version: 'unknown' };

/** Whether the HTTP status says nothing about the era, because authentication, a limit or a proxy may be its cause. */
const isInconclusive = (status: number): boolean =>
  [401, 403, 407, 408, 425, 429].includes(status) || status >= 500;

/** Sends `server/discover`. Rejects when the server does not offer revision 2026-07-28. */
export async function discoverServer(
  send: SendRequest,
  timeoutMs: number,
  onMemoryLimit?: OnMemoryLimit,
): Promise<ServerFacts> {
  const result = await send({ method: 'server/discover', timeoutMs });
  const facts = readFacts(
    readHandshakeResult(result, 'server/discover', onMemoryLimit) as Readonly<Record<string, unknown>>,
  );
  if (!facts) throw new TransportError('refused', NOT_OFFERED);
  return facts;
}

/** The error for a server with `era: 2026` that answers `server/discover` like a server of 2025. */
export function notOffered(cause: Error): Error {
  if (cause.message === NOT_OFFERED) return cause;
  const details = cause instanceof TransportError ? cause.details : {};
  return new TransportError('refused', `${NOT_OFFERED}: ${cause.message}`, details, { cause });
}

/**
 * The era of a server after a failed `server/discover`; undefined if the error does not tell. A JSON-RPC error means 2025
 * unless the error itself offers revision 2026-07-28: a server of 2025 may answer an unknown method, or a request without a
 * session, with any code. An HTTP error means 2025 too, unless a server of 2026 can also send it (`isInconclusive`).
 */
export function eraOfFailure(error: unknown): Era | undefined {
  if (error instanceof RemoteError) return offersModern(error) ? '2026' : '2025';
  if (!(error instanceof TransportError) || error.fault !== 'refused') return undefined;
  const { httpStatus } = error.details;
  return httpStatus === undefined || !isInconclusive(httpStatus) ? '2025' : undefined;
}

/** Whether the server refused the revision of a request, and offers revision 2026-07-28. */
export function offersModern(error: unknown): boolean {
  if (!(error instanceof RemoteError) || error.code !== UNSUPPORTED_VERSION) return false;
  const { data } = new JsonText(error.text).value as { readonly data?: unknown };
  return isJsonObject(data) && offers(data['supported']);
}

const offers = (versions: unknown): versions is readonly unknown[] =>
  Array.isArray(versions) && versions.includes(MODERN_VERSION);

function readFacts(result: Readonly<Record<string, unknown>>): ServerFacts | undefined {
  const { supportedVersions, capabilities, instructions, _meta: meta } = result;
  if (!offers(supportedVersions) || !isJsonObject(capabilities)) return undefined;
  const alsoOffers = SUPPORTED_VERSIONS.find((version) => supportedVersions.includes(version));
  return {
    protocolVersion: MODERN_VERSION,
    capabilities,
    serverInfo: serverInfoIn(meta) ?? UNNAMED,
    ...(typeof instructions === 'string' && { instructions }),
    ...(alsoOffers !== undefined && { alsoOffers }),
  };
}
