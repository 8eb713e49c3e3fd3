import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cancellation } from '../../lib/cancellation/cancellation.js';
import { unlessAborted } from '../../lib/cancellation/unless-aborted.js';
import { JsonText, memberText, membersOf, withMember } from '../../lib/json-text/json-text.js';
import type { Caller } from '../../mcp/mcp-context.js';
import { resultKindOf } from '../../mcp/result-kind.js';
import { cancelledError } from './link-errors.js';
import type { SendRequest } from './link-protocol.js';
import type { LinkRequest } from './link.js';

/** How often a server may answer one request with further input requests. */
export const MAX_INPUT_ROUNDS = 8;
/** Maximum input requests in one result: each is a request that waits for the client. */
export const MAX_INPUT_REQUESTS = 16;
/** How long the client, and the person in front of it, may take to answer the input requests of one result. */
const INPUT_TIMEOUT_MS = 600_000;
/** Pause before the request is repeated for a result that only has a state: the server asks for a later attempt. */
const STATE_ONLY_PAUSE_MS = 250;

/** Requests to the client that a result may contain. */
const INPUT_METHODS = new Set(['sampling/createMessage', 'elicitation/create', 'roots/list']);

/** Why the input that a server requires could not be obtained. */
export class InputError extends Error {
  override readonly name = 'InputError';
}

export interface CallerRequest extends LinkRequest {
  readonly caller: Caller;
}

/** Rewrites own URIs in the params of a server request to public ones. */
export type ToPublicParams = (params: JsonText) => JsonText | Promise<JsonText>;

/**
 * Answers the input requests of a result (`input_required`, revision 2026-07-28) through the client of the call, and repeats
 * the request with the answers until the result is complete. A client of 2025 gets them as requests on the stream of its
 * call. The state of the server is returned exactly as it was sent. Rejects with InputError when the input cannot be obtained.
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
    const answers = await answersTo(result, request.caller, toPublicParams, elicitationIds);
    const params = retryParams(request.params, answers, result.memberText('requestState'));
    result = await send({ ...request, params, deadline: undefined });
    const kind = resultKindOf(result);
    if (kind === 'unknown') throw new InputError('the server answered with a result of an unknown type');
    if (kind === 'input_required') continue;
    for (const elicitationId of elicitationIds)
      request.caller.notify('notifications/elicitation/complete', JsonText.of({ elicitationId }));
    return result;
  }
  throw new InputError(`the server still requires input after ${MAX_INPUT_ROUNDS} rounds`);
}

/** The JSON text of `inputResponses`; undefined when the server asked for nothing. */
async function answersTo(
  result: JsonText,
  caller: Caller,
  toPublicParams: ToPublicParams,
  elicitationIds: string[],
): Promise<string | undefined> {
  const text = result.memberText('inputRequests');
  const requests = text?.startsWith('{') ? membersOf(text) : [];
  if (text === undefined || requests.length === 0) {
    if (result.memberText('requestState') === undefined)
      throw new InputError('the server requires input and does not say which');
    await unlessAborted(caller.signal, sleep(STATE_ONLY_PAUSE_MS), cancelledError);
    return undefined;
  }
  if (requests.length > MAX_INPUT_REQUESTS)
    throw new InputError(`the server asks more than ${MAX_INPUT_REQUESTS} questions at once`);
  const round = new InputRound(caller, toPublicParams, elicitationIds);
  const answers = await round.run(
    requests.map(({ key, start, end }) => ({ key, text: text.slice(start, end) })),
  );
  return `{${answers.join(',')}}`;
}

/** The input requests of one result, which are sent to the client together. When one fails, the others are cancelled. */
class InputRound {
  private readonly ended = new Cancellation();
  private readonly cancel = (): void => this.ended.abort();

  constructor(
    private readonly caller: Caller,
    private readonly toPublicParams: ToPublicParams,
    private readonly elicitationIds: string[],
  ) {}

  /** Each answer is a member of `inputResponses`. */
  async run(requests: readonly { readonly key: string; readonly text: string }[]): Promise<string[]> {
    const { signal } = this.caller;
    if (signal.aborted) throw cancelledError();
    signal.addEventListener('abort', this.cancel, { once: true });
    const timer = setTimeout(this.cancel, INPUT_TIMEOUT_MS).unref();
    try {
      return await Promise.all(
        requests.map(async ({ key, text }) => `${JSON.stringify(key)}:${(await this.ask(text)).text}`),
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

  private async ask(text: string): Promise<JsonText> {
    const method: unknown = text.startsWith('{') ? JSON.parse(memberText(text, 'method') ?? 'null') : null;
    if (typeof method !== 'string' || !INPUT_METHODS.has(method))
      throw new InputError('the server sent an input request that the protocol does not know');
    const params = memberText(text, 'params');
    const ownParams = params?.startsWith('{') ? new JsonText(this.withElicitationId(params)) : undefined;
    const rewritten = ownParams && this.toPublicParams(ownParams);
    // Awaited only if needed, so that the client gets the requests in the order of the server.
    const publicParams = rewritten instanceof Promise ? await rewritten : rewritten;
    return this.caller.sendRequest(method, publicParams, { signal: this.ended });
  }

  /** Revisions of 2025 require an id of an elicitation by URL, which revision 2026-07-28 does not have. */
  private withElicitationId(params: string): string {
    const isByUrl =
      memberText(params, 'mode') === '"url"' && memberText(params, 'elicitationId') === undefined;
    if (!isByUrl) return params;
    const id = randomUUID();
    this.elicitationIds.push(id);
    return withMember(params, 'elicitationId', JSON.stringify(id));
  }
}

function retryParams(params = '{}', answers: string | undefined, state: string | undefined): string {
  const answered = answers === undefined ? params : withMember(params, 'inputResponses', answers);
  return state === undefined ? answered : withMember(answered, 'requestState', state);
}
