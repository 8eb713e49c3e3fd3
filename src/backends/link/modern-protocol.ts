import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { GatewayError, RemoteError } from '../../core/errors.js';
import { JsonText, mapMember, memberText } from '../../lib/json-text/json-text.js';
import { isJsonObject } from '../../lib/json-text/json-value.js';
import {
  capabilitiesMember,
  envelopeMembers,
  identityMembers,
  NO_CAPABILITIES,
  withEnvelope,
} from '../../mcp/envelope.js';
import type { Caller, LinkOwner } from '../../mcp/mcp-context.js';
import { paramHeaders } from '../../mcp/param-headers.js';
import type { InputOutcome } from '../../metrics/metric-labels.js';
import { resultKindOf, resultTypeIn, type ResultKind } from '../../mcp/result-kind.js';
import { modernParams } from '../../mcp/split-params.js';
import { nameMemberOf, standardHeaders } from '../../mcp/standard-headers.js';
import { fulfilInput, InputError, type ToPublicParams } from './fulfil-input.js';
import { withPublicInput } from './public-input.js';
import { headersRefused, isHeaderMismatch } from './link-errors.js';
import { UNSUPPORTED_VERSION, type LinkProtocol, type SendRequest } from './link-protocol.js';
import type { LinkRequest } from './link.js';
import type { PendingRequest } from './pending-requests.js';

const INVALID_PARAMS = -32602;
const RESOURCE_NOT_FOUND = -32002;
const MISSING_CAPABILITY = -32021;

export interface ModernProtocolOptions {
  readonly version: string;
  /** Client capabilities of requests of the gateway itself. */
  readonly capabilities: ClientCapabilities;
  /** Whether requests are sent over HTTP. They then have standard headers, and are cancelled by closing the response. */
  readonly isHttp: boolean;
  readonly toPublicParams?: ToPublicParams | undefined;
  /** Called for each result that requires input of the client (`input_required`), or has an unknown type. */
  readonly onInput?: ((outcome: InputOutcome) => void) | undefined;
}

/** Revision 2026-07-28: there is no session, and each request has an envelope with the client's name and capabilities. */
export class ModernProtocol implements LinkProtocol {
  readonly era = '2026';
  readonly pingMethod = 'server/discover';
  readonly notifiesOfCancellation: boolean;
  /** The members of the envelope that are the same for all clients. */
  private readonly identity: string;
  /** The members of the envelope for a client that declares none of the forwarded capabilities. */
  private readonly membersForNoCapabilities: string;
  /** The members of the envelope of the gateway's own requests. */
  private readonly gatewayMembers: string;
  /** By session: the members of the envelope. They are stored, because the capabilities of a session do not change. */
  private readonly sessionMembers = new WeakMap<LinkOwner, string>();

  constructor(private readonly options: ModernProtocolOptions) {
    this.notifiesOfCancellation = !options.isHttp;
    const clientInfo = { name: 'gatehouse', version: options.version };
    this.identity = identityMembers(clientInfo);
    this.membersForNoCapabilities = envelopeMembers(clientInfo, {});
    this.gatewayMembers = envelopeMembers(clientInfo, options.capabilities);
  }

  request(request: LinkRequest, send: SendRequest): Promise<JsonText> {
    return send(request).then(
      (result) => {
        const kind = resultKindOf(result);
        return kind === 'complete' ? result : this.handleIncomplete(result, kind, request, send);
      },
      (error: unknown) => this.handleFailure(request, error),
    );
  }

  /** Handles a result that requires input, or has an unknown type. */
  private async handleIncomplete(
    result: JsonText,
    kind: Exclude<ResultKind, 'complete'>,
    request: LinkRequest,
    send: SendRequest,
  ): Promise<JsonText> {
    try {
      const { caller } = request;
      if (kind === 'input_required' && caller?.revision.era === '2026')
        return await this.forwardInput(result);
      if (kind === 'unknown' || !caller)
        throw new InputError(`the server answered with a result of type ${resultTypeIn(result)}`);
      const { toPublicParams, onInput } = this.options;
      const complete = await fulfilInput(result, { ...request, caller }, send, toPublicParams);
      onInput?.('answered');
      return complete;
    } catch (error) {
      return this.handleFailure(request, error);
    }
  }

  private handleFailure(request: LinkRequest, error: unknown): JsonText {
    if (error instanceof InputError) {
      this.options.onInput?.('failed');
      return failureOf(request, error.message);
    }
    if (error instanceof RemoteError) return this.handleError(request, error);
    throw error;
  }

  paramsOf({ id, request, clientToken, paramsMembers }: PendingRequest): string {
    const { params, split, caller } = request;
    const envelope = {
      members: caller ? this.membersOfCaller(caller) : this.gatewayMembers,
      logLevel: caller?.logLevel,
      progressToken: clientToken === undefined ? undefined : id,
    };
    return split ? modernParams(split, envelope) : withEnvelope(params, envelope, paramsMembers);
  }

  headersOf(request: LinkRequest): string | undefined {
    if (!this.options.isHttp) return undefined;
    const { method, params, paramHeaders: declared } = request;
    const lines = standardHeaders(method, nameOf(request));
    if (!declared || declared.length === 0 || params === undefined) return lines;
    const args = memberText(params, 'arguments');
    return args === undefined ? lines : lines + paramHeaders(declared, new JsonText(args).value);
  }

  isContradictedBy({ code }: RemoteError): boolean {
    return code === UNSUPPORTED_VERSION;
  }

  /** The result with public URIs. A client of 2026 answers the input requests itself, in another request. */
  private forwardInput(result: JsonText): JsonText | Promise<JsonText> {
    const { toPublicParams, onInput } = this.options;
    onInput?.('forwarded');
    return toPublicParams ? withPublicInput(result, toPublicParams) : result;
  }

  /** Throws the error in the form of the caller's era, or returns a result in its place. */
  private handleError(request: LinkRequest, error: RemoteError): JsonText {
    const { code, message, text } = error;
    if (isHeaderMismatch(error)) throw headersRefused(error);
    if (request.caller?.revision.era === '2026') throw error;
    // For an unknown resource, clients of 2025 expect another code.
    if (code === INVALID_PARAMS && request.method === 'resources/read' && isAboutUri(text))
      throw new RemoteError(
        RESOURCE_NOT_FOUND,
        message,
        mapMember(text, 'code', () => `${RESOURCE_NOT_FOUND}`),
      );
    if (code === MISSING_CAPABILITY) return failureOf(request, `the client lacks a capability: ${message}`);
    throw error;
  }

  /** The members of the envelope that are the same for all requests of this caller. Stored if the caller has a session. */
  private membersOfCaller({ session, capabilities }: Caller): string {
    if (!session) return this.membersFor(capabilities);
    let members = this.sessionMembers.get(session);
    if (members === undefined) {
      members = this.membersFor(session.capabilities);
      this.sessionMembers.set(session, members);
    }
    return members;
  }

  private membersFor(capabilities: ClientCapabilities): string {
    const member = capabilitiesMember(capabilities);
    return member === NO_CAPABILITIES ? this.membersForNoCapabilities : `${this.identity},${member}`;
  }
}

/** The value of the header Mcp-Name. The params may be long, so they are searched only if the request has no `target`. */
function nameOf({ method, params, target }: LinkRequest): string | undefined {
  const member = nameMemberOf(method);
  if (member === undefined) return undefined;
  if (target !== undefined) return target;
  const text = params === undefined ? undefined : memberText(params, member);
  return text?.startsWith('"') ? (JSON.parse(text) as string) : undefined;
}

/** For a call of a tool, returns a result with `isError`, which a model can read. For other methods, throws an error. */
function failureOf({ method }: LinkRequest, problem: string): JsonText {
  if (method !== 'tools/call') throw new GatewayError('internal', `The request failed: ${problem}`);
  return JsonText.of({ content: [{ type: 'text', text: `The call failed: ${problem}` }], isError: true });
}

/** Whether the data of the error name a URI, as they do for an unknown resource. */
function isAboutUri(errorText: string): boolean {
  const { data } = new JsonText(errorText).value as { readonly data?: unknown };
  return isJsonObject(data) && typeof data['uri'] === 'string';
}
