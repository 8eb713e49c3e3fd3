import type { Era, RemoteError } from '../../core/errors.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import { withoutEnvelope } from '../../mcp/envelope.js';
import { withProgressToken } from '../../mcp/params.js';
import type { LinkRequest } from './link.js';
import { requestForModernCaller } from './modern-caller.js';
import type { PendingRequest } from './pending-requests.js';

/** Sends one request and resolves with the result of the server. */
export type SendRequest = (request: LinkRequest) => Promise<JsonText>;

/** The code with which a server of 2026 refuses the revision of a request. */
export const UNSUPPORTED_VERSION = -32022;

/** How the requests of a link are written and their results are read in one protocol era. */
export interface LinkProtocol {
  readonly era: Era;
  /** A request that any server of the era can respond to at little cost. */
  readonly pingMethod: string;
  /** Whether the server is notified of a cancelled request. Otherwise it notices that the response is not read any more. */
  readonly notifiesOfCancellation: boolean;
  /** Makes a request for a client of either era, or for the gateway itself. */
  request(request: LinkRequest, send: SendRequest): Promise<JsonText>;
  /** The params as the server expects them. */
  paramsOf(pending: PendingRequest): string | undefined;
  /** The lines of further HTTP headers; undefined if there are none. */
  headersOf(request: LinkRequest): string | undefined;
  /** Whether the error says that the server does not speak this era any more. It has not executed the request. */
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
    const { params } = request;
    if (params && isModern(request))
      return withoutEnvelope(params, clientToken === undefined ? undefined : id, paramsMembers);
    return params && clientToken ? withProgressToken(params, String(id), paramsMembers) : params;
  },
  headersOf: () => undefined,
  isContradictedBy: ({ code }) => code === UNSUPPORTED_VERSION,
};
