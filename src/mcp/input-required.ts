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
 * In revision 2026-07-28 a server does not send requests to clients. It answers a request with the result `input_required`,
 * which has questions and a `requestState`. The client repeats its request with the answers and this state.
 */

/**
 * A server of 2025 responds with this error code if the user has to open URLs and the client then has to repeat the request.
 * The 2026 era does not have this code.
 */
const URL_ELICITATION_REQUIRED = -32042;

/** The requests that a server may answer with questions. */
export const INPUT_METHODS: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** The members that a repeated request adds to the params. */
export const INPUT_MEMBERS: ReadonlySet<string> = new Set(['inputResponses', 'requestState']);

/** A question to the client in the form of 2025: a request of the server. */
export interface InputRequest {
  readonly method: string;
  readonly params: JsonText | undefined;
}

/** The result `input_required` with these questions. The client answers each question under its key. */
export function inputRequired(
  requests: Iterable<readonly [key: string, request: InputRequest]>,
  state?: string,
): JsonText {
  const members = Array.from(
    requests,
    ([key, request]) => `${JSON.stringify(key)}:${modernQuestion(request)}`,
  );
  const stateMember = state === undefined ? '' : `,"requestState":${JSON.stringify(state)}`;
  return new JsonText(`{"resultType":"input_required","inputRequests":{${members.join(',')}}${stateMember}}`);
}

/**
 * The result `input_required` in place of the error `URL_ELICITATION_REQUIRED`. Undefined for any other error, and for an
 * error without URLs. After the user has opened the URLs, the client repeats its request.
 */
export function urlsRequired(error: RemoteError): JsonText | undefined {
  if (error.code !== URL_ELICITATION_REQUIRED) return undefined;
  const data = memberText(error.text, 'data');
  const list = data?.startsWith('{') ? memberText(data, 'elicitations') : undefined;
  if (!list?.startsWith('[')) return undefined;
  const elicitations = Array.from(elementsOf(list), ({ start, end }) => list.slice(start, end));
  if (elicitations.length === 0 || !elicitations.every(isByUrl)) return undefined;
  return inputRequired(
    elicitations.map((text, index) => [
      `url${index + 1}`,
      { method: 'elicitation/create', params: new JsonText(text) },
    ]),
  );
}

const isByUrl = (elicitation: string): boolean =>
  elicitation.startsWith('{') && memberText(elicitation, 'mode') === '"url"';

/** By key: the text of each answer in the params of a repeated request. Values that are not objects are left out. */
export function inputResponsesIn(params: string | undefined): ReadonlyMap<string, string> {
  const text = params === undefined ? undefined : memberText(params, 'inputResponses');
  if (!text?.startsWith('{')) return new Map();
  const answers = membersOf(text).map(({ key, start, end }) => [key, text.slice(start, end)] as const);
  return new Map(answers.filter(([, answer]) => answer.startsWith('{')));
}

/** The beginning of each `requestState` that the gateway issues. */
export const STATE_PREFIX = 'gatehouse.';

/** The error for a `requestState` that belongs to no call. `why` is the reason, as a sentence without its full stop. */
export const invalidState = (why: string): GatewayError =>
  new GatewayError(
    'invalid-params',
    `Invalid requestState: ${why}. Repeat the request without requestState and inputResponses`,
  );

/**
 * The error for a `requestState` in a request to a server of 2025, which issues no such states. This process did not issue
 * the state either.
 */
export const unknownState = (state: unknown): GatewayError =>
  invalidState(
    typeof state === 'string' && state.startsWith(STATE_PREFIX)
      ? 'it was issued by another process of the gateway, which may have ended'
      : 'neither this gateway nor the server has issued it',
  );

/** The text of a question in `input_required`. */
function modernQuestion({ method, params }: InputRequest): string {
  const head = `{"method":${JSON.stringify(method)}`;
  return params === undefined ? `${head}}` : `${head},"params":${modernParams(params.text)}}`;
}

const ELICITATION_ID: ReadonlySet<string> = new Set(['elicitationId']);
const PROGRESS_TOKEN: ReadonlySet<string> = new Set(['progressToken']);

/**
 * The params of a question without the members that revision 2026-07-28 does not have: the id of a URL elicitation, and the
 * progress token, because clients of this revision report no progress to servers.
 */
function modernParams(params: string): string {
  const hasElicitationId = params.includes('"elicitationId"') && isByUrl(params);
  const text = hasElicitationId ? withoutMembers(params, ELICITATION_ID) : params;
  if (!text.includes('"progressToken"')) return text;
  return mapMember(text, '_meta', (meta) =>
    meta.startsWith('{') ? withoutMembers(meta, PROGRESS_TOKEN) : meta,
  );
}
