import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { GatewayError, RemoteError } from '../../core/errors.js';
import { memberText, type JsonText } from '../../lib/json-text/json-text.js';
import { withoutModernMembers } from '../../mcp/envelope.js';
import { inputResponsesIn, unknownState, urlsRequired } from '../../mcp/input-required.js';
import type { Caller } from '../../mcp/mcp-context.js';
import type { LinkRequest } from './link.js';

const URL_ELICITATION: ClientCapabilities = { elicitation: { url: {} } };

/**
 * Sends the request of a client of 2026 to a server of 2025. A server of 2025 issues no `requestState`, so a request that has one
 * is rejected. If the server responds with an error that requires the user to open URLs, the client gets a result
 * `input_required` in place of the error.
 */
export function requestForModernCaller(
  request: LinkRequest,
  caller: Caller,
  send: (request: LinkRequest) => Promise<JsonText>,
): Promise<JsonText> {
  const state = stateIn(request);
  if (state !== undefined) return Promise.reject(unknownState(state));
  return send(request).then(withoutModernMembers, (error: unknown) => {
    if (error instanceof RemoteError) return inputFor(error, caller, request.params);
    throw error;
  });
}

/**
 * The result that asks the client to open URLs. Throws if the error does not require that, the client does not support it, or the
 * user has declined.
 */
function inputFor(
  error: RemoteError,
  { capabilities, missingCapabilities }: Caller,
  params: string | undefined,
): JsonText {
  const urlInput = urlsRequired(error);
  if (urlInput && hasDeclined(params))
    throw new GatewayError(
      'cancelled',
      `The user did not open the URL that the server requires: ${error.message}`,
    );
  if (urlInput && capabilities.elicitation?.url) return urlInput;
  const missing = urlInput ? URL_ELICITATION : missingCapabilities;
  if (!missing) throw error;
  const data = { requiredCapabilities: missing };
  throw new GatewayError('missing-capability', `The client lacks a capability: ${error.message}`, data, {
    cause: error,
  });
}

/** Whether the user has declined to open a URL. The client must not be asked again then, because that would not end. */
function hasDeclined(params: string | undefined): boolean {
  const actions = Array.from(inputResponsesIn(params).values(), (answer) => memberText(answer, 'action'));
  return actions.some((action) => action === '"decline"' || action === '"cancel"');
}

/** The value of `requestState` in the params; undefined only if there is no such member. */
function stateIn({ params, paramsMembers }: LinkRequest): unknown {
  if (paramsMembers && !paramsMembers.some(({ key }) => key === 'requestState')) return undefined;
  // The key may be written with escapes.
  if (params === undefined || !(params.includes('"requestState"') || params.includes('\\u')))
    return undefined;
  const text = memberText(params, 'requestState');
  return text === undefined ? undefined : JSON.parse(text);
}
