import { GatewayError, type RemoteError } from '../core/errors.js';
import {
  elementsOf,
  JsonText,
  mapMember,
  memberText,
  membersOf,
  withoutMembers,
} from '../lib/json-text/json-text.js';

/*
 * In revision 2026-07-28 a server does not send requests. It asks with a result, `input_required`, and the client repeats its
 * request with the answers and with the state of the server.
 */

/** The code with which a server of 2025 requires that the client opens URLs. Revision 2026-07-28 does not have it. */
const URL_ELICITATION_REQUIRED = -32042;

/** The requests that a server may answer with questions. */
export const INPUT_METHODS: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** The members that a repeated request adds to the params. */
export const INPUT_MEMBERS: ReadonlySet<string> = new Set(['inputResponses', 'requestState']);

/** A question to the client, as a server of 2025 sends it. */
export interface InputRequest {
  readonly method: string;
  readonly params: JsonText | undefined;
}

/** A result that asks the client, by keys of the questions. */
export function inputRequired(
  requests: Iterable<readonly [key: string, request: InputRequest]>,
  state?: string,
): JsonText {
  const members = Array.from(requests, ([key, request]) => `${JSON.stringify(key)}:${textOf(request)}`);
  const stateMember = state === undefined ? '' : `,"requestState":${JSON.stringify(state)}`;
  return new JsonText(`{"resultType":"input_required","inputRequests":{${members.join(',')}}${stateMember}}`);
}

/**
 * The result in place of an error with which a server of 2025 requires that the client opens URLs (-32042). Undefined if the
 * error names no URL. The client repeats its request when the user has been there.
 */
export function urlsRequired(error: RemoteError): JsonText | undefined {
  if (error.code !== URL_ELICITATION_REQUIRED) return undefined;
  const data = memberText(error.text, 'data');
  const list = data?.startsWith('{') ? memberText(data, 'elicitations') : undefined;
  if (!list?.startsWith('[')) return undefined;
  const elicitations = Array.from(elementsOf(list), ({ start, end }) => list.slice(start, end));
  if (elicitations.length === 0 || !elicitations.every(isByUrl)) return undefined;
  return inputRequired(
    elicitations.map((text, n) => [
      `url${n + 1}`,
      { method: 'elicitation/create', params: new JsonText(text) },
    ]),
  );
}

const isByUrl = (elicitation: string): boolean =>
  elicitation.startsWith('{') && memberText(elicitation, 'mode') === '"url"';

/** The texts of the answers in the params of a repeated request, by keys. What is no object is no answer. */
export function inputResponsesIn(params: string | undefined): ReadonlyMap<string, string> {
  const text = params === undefined ? undefined : memberText(params, 'inputResponses');
  if (!text?.startsWith('{')) return new Map();
  const answers = membersOf(text).map(({ key, start, end }) => [key, text.slice(start, end)] as const);
  return new Map(answers.filter(([, answer]) => answer.startsWith('{')));
}

/** Begins every state that a gateway issues. */
export const STATE_PREFIX = 'gatehouse.';

/** The error for a state that belongs to no call. `why` completes "the state is not valid:". */
export const invalidState = (why: string): GatewayError =>
  new GatewayError(
    'invalid-params',
    `Invalid requestState: ${why}. Repeat the request without requestState and inputResponses`,
  );

/** The error for a state that was not issued by this process, in a request to a server that issues none. */
export const unknownState = (state: unknown): GatewayError =>
  invalidState(
    typeof state === 'string' && state.startsWith(STATE_PREFIX)
      ? 'it was issued by another process of the gateway, which may have ended'
      : 'neither this gateway nor the server has issued it',
  );

function textOf({ method, params }: InputRequest): string {
  const head = `{"method":${JSON.stringify(method)}`;
  return params === undefined ? `${head}}` : `${head},"params":${modernParams(params.text)}}`;
}

const ELICITATION_ID: ReadonlySet<string> = new Set(['elicitationId']);
const PROGRESS_TOKEN: ReadonlySet<string> = new Set(['progressToken']);

/** The params of a question without what revision 2026-07-28 does not have: clients report no progress to servers. */
function modernParams(params: string): string {
  const hasId = params.includes('"elicitationId"') && isByUrl(params);
  const kept = hasId ? withoutMembers(params, ELICITATION_ID) : params;
  return kept.includes('"progressToken"')
    ? mapMember(kept, '_meta', (meta) => (meta.startsWith('{') ? withoutMembers(meta, PROGRESS_TOKEN) : meta))
    : kept;
}
