import type { Era, RemoteError } from '../../core/errors.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import { withoutEnvelope } from '../../mcp/envelope.js';
import { withProgressToken } from '../../mcp/params.js';
import { legacyParams } from '../../mcp/split-params.js';
import type { LinkRequest } from './link.js';
import { requestForModernCaller } from './modern-caller.js';
import type { PendingRequest } from './pending-requests.js';

/** Sends one request and resolves with the result of the server. */
export type SendRequest = (request: LinkRequest) => Promise<JsonText>;

/** The code with which a server of 2026 refuses the revision of a request. */
export const UNSUPPORTED_VERSION = -32022;

/** Writes the requests of a link and reads their results in one protocol era. */
export interface LinkProtocol {
  readonly era: Era;
  /** The method of a request to which any server of the era can respond at little cost. */
  readonly pingMethod: string;
  /** Whether a notification tells the server that a request is cancelled. If not, closing the response tells the server. */
  readonly notifiesOfCancellation: boolean;
  /** Makes a request for a client of either era, or for the gateway itself. May call `send` several times. */
  request(request: LinkRequest, send: SendRequest): Promise<JsonText>;
  /** The params as the server expects them. */
  paramsOf(pending: PendingRequest): string | undefined;
  /** The lines of further HTTP headers; undefined if there are none. */
  headersOf(request: LinkRequest): string | undefined;
  /** Whether the error says that the server no longer speaks this era. The server has not executed the request then. */
  isContradictedBy(error: RemoteError): boolean;
}

const isModern = ({ caller }: LinkRequest): boolean => caller?.revision.era === '2026';

/** The revisions up to 2025-11-25. */
export const LEGACY_PROTOCOL: LinkProtocol = {
  era: '2025',
  pingMethod: 'ping',
  notifiesOfCancellation: true,
  request: (request, send) => {
    const { caller } = request;
    return caller?.revision.era === '2026' ? requestForModernCaller(request, caller, send) : send(request);
  },
  paramsOf: ({ id, request, clientToken, paramsMembers }) => {
    const { params, split } = request;
    if (split) return legacyParams(split);
    if (params && isModern(request))
      return withoutEnvelope(params, clientToken === undefined ? undefined : id, paramsMembers);
    return params && clientToken ? withProgressToken(params, String(id), paramsMembers) : params;
  },
  headersOf: () => undefined,
  isContradictedBy: ({ code }) => code === UNSUPPORTED_VERSION,
};
