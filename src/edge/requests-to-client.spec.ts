import { getEventListeners } from 'node:events';
import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from '@jest/globals';
import { outcomeOf, flushPromises } from '../../test/kit/promises.js';
import { until } from '../../test/kit/until.js';
import { JsonDocument } from '../lib/json-text/json-document.js';
import { JsonReader } from '../lib/json-text/json-reader.js';
import { JsonText } from '../lib/json-text/json-text.js';
import type { OutgoingMessage } from '../mcp/event-frame.js';
import { readMessage, type Inbound } from '../mcp/json-rpc.js';
import { MAX_OPEN_REQUESTS, supportsRequest, RequestsToClient } from './requests-to-client.js';

const STREAM_QUEUE = 8;
const CAPABILITIES: ClientCapabilities = { sampling: {}, roots: {} };

type Response = Extract<Inbound, { kind: 'response' }>;

/** A message of the client, as `readMessage` returns it. */
const response = (text: string): Response => readMessage(JsonDocument.of(text)) as Response;

const textOf = (message: OutgoingMessage): string =>
  typeof message === 'string' ? message : Buffer.concat(message).toString();

function openRequests(params?: string) {
  const requests = new RequestsToClient(STREAM_QUEUE, () => CAPABILITIES, 0);
  const abort = new AbortController();
  const sent: { id?: number; method?: string; params?: Record<string, unknown> }[] = [];
  const progress: string[] = [];
  const send = () =>
    outcomeOf(
      requests.send(
        'sampling/createMessage',
        params === undefined ? undefined : new JsonText(params),
        { signal: abort.signal, onProgress: ({ text }) => progress.push(text) },
        (message) => sent.push(JSON.parse(textOf(message)) as object) > 0,
      ),
    );
  return { requests, abort, sent, progress, send };
}

/** Params as they are read from a long message of a server. */
function longParams(text: string): JsonText {
  const reader = new JsonReader({ maxBytes: 2 ** 24, maxDepth: 64, maxMembers: 1000 });
  const document = reader.read(Buffer.from(`{"id":1,"params":${text}}`));
  if (!(document instanceof JsonDocument)) throw document;
  const params = document.member('params')!;
  Object.defineProperty(params, 'text', {
    get: () => {
      throw new Error('decoded');
    },
  });
  return params;
}

describe('RequestsToClient with long params', () => {
  const TEXT = '漢'.repeat(300_000);

  it.each([
    [
      'with a progress token',
      '"_meta":{"progressToken":"t","n":1.0},',
      '"_meta":{"progressToken":1,"n":1.0},',
    ],
    ['without one', '', ''],
  ])('sends their bytes %s on one line, without decoding them', async (_what, meta, sentMeta) => {
    const requests = new RequestsToClient(STREAM_QUEUE, () => CAPABILITIES, 0);
    const sent: OutgoingMessage[] = [];
    const { signal } = new AbortController();
    const params = longParams(`{${meta}"messages":[],\n"s":"${TEXT}"}`);
    const outcome = outcomeOf(
      requests.send('sampling/createMessage', params, { signal }, (message) => sent.push(message) > 0),
    );
    await until('the request is sent', () => sent.length > 0);
    expect(sent[0]).toBeInstanceOf(Array);
    const expected = `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{${sentMeta}"messages":[], "s":"${TEXT}"}}`;
    expect(textOf(sent[0]!) === expected).toBe(true);
    requests.receive(response('{"jsonrpc":"2.0","id":1,"result":{}}'));
    await flushPromises();
    expect(outcome.value?.text).toBe('{}');
  });

  it('does not send a request that was cancelled meanwhile', async () => {
    const requests = new RequestsToClient(STREAM_QUEUE, () => CAPABILITIES, 0);
    const abort = new AbortController();
    const sent: OutgoingMessage[] = [];
    const outcome = outcomeOf(
      requests.send(
        'sampling/createMessage',
        longParams(`{"s":"${TEXT}"}`),
        { signal: abort.signal },
        (message) => sent.push(message) > 0,
      ),
    );
    abort.abort();
    await until('the request has failed', () => outcome.error !== undefined);
    expect(outcome.error).toMatchObject({ kind: 'cancelled' });
    expect(sent).toEqual([]);
  });
});

describe('RequestsToClient', () => {
  it('sends a request with an id of the session and resolves with the result text', async () => {
    const { requests, sent, send } = openRequests('{"n":1}');
    const [first, second] = [send(), send()];
    expect(sent).toMatchObject([
      { id: 1, method: 'sampling/createMessage', params: { n: 1 } },
      { id: 2, method: 'sampling/createMessage', params: { n: 1 } },
    ]);
    expect(requests.receive(response('{"jsonrpc":"2.0","id":2,"result":{ "n":1.0 }}'))).toBe(true);
    await flushPromises();
    expect(second.value?.text).toBe('{ "n":1.0 }');
    expect(first).toEqual({});
  });

  it('sends a request without params', () => {
    const { sent, send } = openRequests();
    send();
    expect(sent[0]).toEqual({ jsonrpc: '2.0', id: 1, method: 'sampling/createMessage' });
  });

  it("rejects with the client's error", async () => {
    const { requests, send } = openRequests();
    const outcome = send();
    const error = '{"code":-1,"message":"rejected","data":1.0}';
    requests.receive(response(`{"jsonrpc":"2.0","id":1,"error":${error}}`));
    await flushPromises();
    expect(outcome.error).toMatchObject({ code: -1, message: 'rejected', text: error });
  });

  it('accepts one response per request id', () => {
    const { requests, send } = openRequests();
    send();
    const accepted = ['"1"', '7', '1', '1'].map((id) =>
      requests.receive(response(`{"jsonrpc":"2.0","id":${id},"result":{}}`)),
    );
    expect(accepted).toEqual([false, false, true, false]);
  });

  it('sends notifications/cancelled when the request is aborted', async () => {
    const { requests, abort, sent, send } = openRequests();
    const outcome = send();
    abort.abort();
    await flushPromises();
    expect(outcome.error).toMatchObject({ kind: 'cancelled', message: 'The request was cancelled' });
    expect(sent[1]).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 1 } });
    expect(requests.receive(response('{"jsonrpc":"2.0","id":1,"result":{}}'))).toBe(false);
  });

  it('sends nothing for a request that is already aborted, and counts it against no limit', async () => {
    const { abort, sent, send, requests } = openRequests();
    abort.abort();
    const outcomes = Array.from({ length: MAX_OPEN_REQUESTS + 1 }, send);
    await flushPromises();
    for (const { error } of outcomes) expect(error).toMatchObject({ kind: 'cancelled' });
    expect(sent).toEqual([]);
    expect(requests.receive(response('{"jsonrpc":"2.0","id":1,"result":{}}'))).toBe(false);
  });

  it('removes its abort listener when the request ends', () => {
    const { requests, abort, send } = openRequests();
    send();
    send();
    requests.receive(response('{"jsonrpc":"2.0","id":1,"result":{}}'));
    requests.close();
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  });

  it('rejects pending requests when it is closed', async () => {
    const { requests, send } = openRequests();
    const outcomes = [send(), send()];
    requests.close();
    await flushPromises();
    for (const { error } of outcomes) expect(error).toMatchObject({ kind: 'cancelled' });
  });
});

describe('RequestsToClient limits', () => {
  it('reject requests beyond the number that may wait for the client, until one is answered', async () => {
    const { requests, send, sent } = openRequests();
    for (let n = 0; n < MAX_OPEN_REQUESTS; n++) send();
    const refused = send();
    await flushPromises();
    expect(refused.error).toMatchObject({ kind: 'limit-exceeded', memoryLimit: 'client-requests' });
    requests.receive(response('{"jsonrpc":"2.0","id":1,"result":{}}'));
    send();
    expect(sent).toHaveLength(MAX_OPEN_REQUESTS + 1);
  });

  it('reject a request that the stream refuses', async () => {
    const requests = new RequestsToClient(STREAM_QUEUE, () => CAPABILITIES, 0);
    const { signal } = new AbortController();
    const outcome = outcomeOf(requests.send('roots/list', undefined, { signal }, () => false));
    await flushPromises();
    expect(outcome.error).toMatchObject({
      kind: 'limit-exceeded',
      memoryLimit: 'stream-queue',
      data: { limit: STREAM_QUEUE },
    });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(requests.receive(response('{"jsonrpc":"2.0","id":1,"result":{}}'))).toBe(false);
  });
});

describe('RequestsToClient progress', () => {
  it('replaces the progress token of the server', () => {
    const { requests, sent, progress, send } = openRequests('{"_meta":{"progressToken":"theirs","x":1}}');
    send();
    expect(sent[0]?.params).toEqual({ _meta: { progressToken: 1, x: 1 } });
    requests.receiveProgress(1, '{"progressToken":1,"progress":0.5}');
    expect(progress).toEqual(['{"progressToken":1,"progress":0.5}']);
  });

  it('ignores progress of unknown requests and of requests that have ended', () => {
    const { requests, progress, send } = openRequests('{"_meta":{"progressToken":1}}');
    send();
    for (const token of [2, '1', null, undefined, {}]) requests.receiveProgress(token, '{}');
    requests.receive(response('{"jsonrpc":"2.0","id":1,"result":{}}'));
    requests.receiveProgress(1, '{}');
    expect(progress).toEqual([]);
  });
});

describe('supportsRequest', () => {
  const url = new JsonText('{"mode":"url"}');
  const form = new JsonText('{"mode":"form"}');

  it.each<[ClientCapabilities, string, JsonText | undefined, boolean]>([
    [{}, 'sampling/createMessage', undefined, false],
    [{ sampling: {} }, 'sampling/createMessage', undefined, true],
    [{ sampling: {} }, 'roots/list', undefined, false],
    [{ roots: {} }, 'roots/list', undefined, true],
    [{ sampling: {}, roots: {} }, 'elicitation/create', form, false],
    [{ elicitation: {} }, 'elicitation/create', undefined, true],
    [{ elicitation: {} }, 'elicitation/create', form, true],
    [{ elicitation: {} }, 'elicitation/create', url, false],
    [{ elicitation: { form: {} } }, 'elicitation/create', form, true],
    [{ elicitation: { form: {} } }, 'elicitation/create', url, false],
    [{ elicitation: { url: {} } }, 'elicitation/create', url, true],
    [{ elicitation: { url: {} } }, 'elicitation/create', form, false],
    [{ elicitation: { form: {}, url: {} } }, 'elicitation/create', url, true],
    [{ elicitation: { form: {}, url: {} } }, 'elicitation/create', form, true],
    [{ elicitation: { applyDefaults: true } }, 'elicitation/create', form, true],
    [{ elicitation: { applyDefaults: true } }, 'elicitation/create', url, false],
    [{ sampling: {}, roots: {}, elicitation: {} }, 'tools/list', undefined, false],
  ])('with capabilities %j answers for %s with params %j: %s', (capabilities, method, params, expected) => {
    expect(supportsRequest(capabilities, method, params)).toBe(expected);
  });
});
