import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cancellation } from '../../lib/cancellation/cancellation.js';
import { unlessAborted } from '../../lib/cancellation/unless-aborted.js';
import { editedText } from '../../lib/json-text/json-edits.js';
import { appendMember, JsonText } from '../../lib/json-text/json-text.js';
import { memberSteps, namedMemberSteps } from '../../lib/json-text/sliced-text.js';
import { runSliced, type Steps } from '../../lib/slices/run-sliced.js';
import { sliceScheduler } from '../../lib/slices/slices.js';
import type { Caller } from '../../mcp/mcp-context.js';
import { resultKindOf } from '../../mcp/result-kind.js';
import { cancelledError } from './link-errors.js';
import type { SendRequest } from './link-protocol.js';
import type { LinkRequest } from './link.js';

/** Maximum number of times that a server may answer one request with input requests. */
export const MAX_INPUT_ROUNDS = 8;
/** Maximum input requests in one result: each is a request that waits for the client. */
export const MAX_INPUT_REQUESTS = 16;
/**
 * Maximum size of a result that requires input. It equals the default maximum of a client's request, because the next request
 * repeats the state of the result.
 */
export const MAX_INPUT_BYTES = 4_194_304;
/** How long the client and its user may take to answer the input requests of one result. */
const INPUT_TIMEOUT_MS = 600_000;
/** The pause before a request is repeated because its result had a state but no input requests: the server asks for a retry. */
const STATE_ONLY_PAUSE_MS = 250;

/** The methods of the requests to the client that a result may contain. */
const INPUT_METHODS = new Set(['sampling/createMessage', 'elicitation/create', 'roots/list']);

/** Says why the input that a server requires could not be obtained. */
export class InputError extends Error {
  override readonly name = 'InputError';
}

export interface CallerRequest extends LinkRequest {
  readonly caller: Caller;
}

/** Replaces the server's own URIs with public URIs in the params of a request that the server sends. */
export type ToPublicParams = (params: JsonText) => JsonText | Promise<JsonText>;

/**
 * Completes a call whose server requires input (result `input_required` of revision 2026-07-28) and whose client speaks 2025:
 * sends the input requests to the client as requests on the stream of its call, and repeats the call with the answers and the
 * server's state until its result is complete. Rejects with InputError when the input cannot be obtained.
 */
export async function fulfilInput(
  first: JsonText,
  request: CallerRequest,
  send: SendRequest,
  toPublicParams: ToPublicParams = (params) => params,
): Promise<JsonText> {
  const elicitationIds: string[] = [];
  let result = first;
  for (let round = 0; round < MAX_INPUT_ROUNDS; round++) {
    if (result.storedLength > MAX_INPUT_BYTES)
      throw new InputError(`the server requires input with a result of more than ${MAX_INPUT_BYTES} bytes`);
    const answers = await answersTo(result, request.caller, toPublicParams, elicitationIds);
    const state = result.memberText('requestState');
    const params = await runSliced(retryParams(request.params, answers, state), sliceScheduler.start());
    result = await send({ ...request, params, paramsMembers: undefined, deadline: undefined });
    const kind = resultKindOf(result);
    if (kind === 'unknown') throw new InputError('the server answered with a result of an unknown type');
    if (kind === 'input_required') continue;
    for (const elicitationId of elicitationIds)
      request.caller.notify('notifications/elicitation/complete', JsonText.of({ elicitationId }));
    return result;
  }
  throw new InputError(`the server still requires input after ${MAX_INPUT_ROUNDS} rounds`);
}

/**
 * Asks the client. Resolves with the JSON text of `inputResponses`; undefined when the result has no input requests. Appends the
 * ids that the gateway gives to elicitations to `elicitationIds`.
 */
async function answersTo(
  result: JsonText,
  caller: Caller,
  toPublicParams: ToPublicParams,
  elicitationIds: string[],
): Promise<string | undefined> {
  const requests = await runSliced(inputRequestsIn(result), sliceScheduler.start());
  if (requests.length === 0) {
    if (result.memberText('requestState') === undefined)
      throw new InputError('the server requires input and does not say which');
    await unlessAborted(caller.signal, sleep(STATE_ONLY_PAUSE_MS), cancelledError);
    return undefined;
  }
  if (requests.length > MAX_INPUT_REQUESTS)
    throw new InputError(`the server asks more than ${MAX_INPUT_REQUESTS} questions at once`);
  const round = new InputRound(caller, toPublicParams, elicitationIds);
  const answers = await round.run(requests);
  return `{${answers.join(',')}}`;
}

/** One input request of a server. */
interface InputRequest {
  /** The key of the request in `inputRequests`, and of its answer in `inputResponses`. */
  readonly key: string;
  /** The method as JSON text, with its quotes; undefined if it is missing or too long. */
  readonly method: string | undefined;
  readonly params: JsonText | undefined;
  /** Whether this is an elicitation by URL without an id. */
  readonly needsElicitationId: boolean;
}

/** Reads the input requests of a result, at most `MAX_INPUT_REQUESTS` + 1. Works in steps, because a request may be long. */
function* inputRequestsIn(result: JsonText): Steps<readonly InputRequest[]> {
  const text = result.memberText('inputRequests');
  if (!text?.startsWith('{')) return [];
  const requests: InputRequest[] = [];
  for (const { key, start } of yield* memberSteps(text)) {
    if (requests.length > MAX_INPUT_REQUESTS) break;
    requests.push({ key, ...(yield* inputRequestAt(text, start)) });
    yield;
  }
  return requests;
}

const NO_REQUEST = { method: undefined, params: undefined, needsElicitationId: false };

function* inputRequestAt(text: string, start: number): Steps<Omit<InputRequest, 'key'>> {
  if (text[start] !== '{') return NO_REQUEST;
  const members = yield* namedMemberSteps(text, ['method', 'params'], start);
  const [method, params] = ['method', 'params'].map((name) => members.findLast(({ key }) => key === name));
  const isShort = method !== undefined && method.end - method.start <= MAX_METHOD_LENGTH;
  const request = { method: isShort ? text.slice(method.start, method.end) : undefined };
  if (!params || text[params.start] !== '{') return { ...NO_REQUEST, ...request };
  const paramMembers = yield* namedMemberSteps(text, ['mode', 'elicitationId'], params.start);
  const mode = paramMembers.findLast(({ key }) => key === 'mode');
  const isByUrl = mode !== undefined && text.slice(mode.start, mode.start + URL_MODE.length) === URL_MODE;
  return {
    ...request,
    params: new JsonText(text.slice(params.start, params.end)),
    needsElicitationId: isByUrl && !paramMembers.some(({ key }) => key === 'elicitationId'),
  };
}

const URL_MODE = '"url"';
/** A longer method cannot be one of `INPUT_METHODS`. */
const MAX_METHOD_LENGTH = 256;

/** Sends the input requests of one result to the client. When one fails, the others are cancelled. */
class InputRound {
  private readonly cancellation = new Cancellation();
  private readonly cancel = (): void => this.cancellation.abort();

  constructor(
    private readonly caller: Caller,
    private readonly toPublicParams: ToPublicParams,
    private readonly elicitationIds: string[],
  ) {}

  /** Resolves with the answers, each as the text of a member of `inputResponses`. */
  async run(requests: readonly InputRequest[]): Promise<string[]> {
    const { signal } = this.caller;
    if (signal.aborted) throw cancelledError();
    signal.addEventListener('abort', this.cancel, { once: true });
    const timer = setTimeout(this.cancel, INPUT_TIMEOUT_MS).unref();
    try {
      return await Promise.all(
        requests.map(async (request) => `${JSON.stringify(request.key)}:${(await this.ask(request)).text}`),
      );
    } catch (error) {
      if (signal.aborted) throw cancelledError();
      throw error instanceof InputError ? error : new InputError((error as Error).message);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', this.cancel);
      this.cancel();
    }
  }

  private async ask(request: InputRequest): Promise<JsonText> {
    const method: unknown = JSON.parse(request.method ?? 'null');
    if (typeof method !== 'string' || !INPUT_METHODS.has(method))
      throw new InputError('the server sent an input request that the protocol does not know');
    const ownParams = request.needsElicitationId ? this.withElicitationId(request.params!) : request.params;
    const rewritten = ownParams && this.toPublicParams(ownParams);
    // Awaited only if it is a promise, so that the client gets the requests in the order of the server.
    const publicParams = rewritten instanceof Promise ? await rewritten : rewritten;
    return this.caller.sendRequest(method, publicParams, { signal: this.cancellation });
  }

  /** Adds an id to an elicitation by URL. Revisions of 2025 require it, and revision 2026-07-28 does not have it. */
  private withElicitationId(params: JsonText): JsonText {
    const id = randomUUID();
    this.elicitationIds.push(id);
    return new JsonText(params.text.replace('{', `{"elicitationId":${JSON.stringify(id)},`));
  }
}

/** The params with the members `inputResponses` and `requestState` set. Works in steps, because both may be long. */
function* retryParams(params = '{}', answers: string | undefined, state: string | undefined): Steps<string> {
  const added = new Map(Object.entries({ inputResponses: answers, requestState: state }));
  const existing = yield* namedMemberSteps(params, [...added.keys()]);
  const edits = existing.map(({ key, start, end }) => ({
    start,
    end,
    text: added.get(key) ?? params.slice(start, end),
  }));
  let text = yield* editedText(params, edits);
  for (const [key, value] of added)
    if (value !== undefined && !existing.some((member) => member.key === key))
      text = appendMember(text, key, value);
  return text;
}
