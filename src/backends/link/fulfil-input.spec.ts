import { describe, expect, it, jest } from '@jest/globals';
import { onCleanup } from '../../../test/kit/cleanup.js';
import { FakeClient, type FakeCaller } from '../../../test/kit/fake-client.js';
import { flushPromises, outcomeOf, refusalOf } from '../../../test/kit/promises.js';
import { until } from '../../../test/kit/until.js';
import { JsonText, membersOf, memberText, type Member } from '../../lib/json-text/json-text.js';
import {
  fulfilInput,
  InputError,
  MAX_INPUT_BYTES,
  MAX_INPUT_REQUESTS,
  MAX_INPUT_ROUNDS,
} from './fulfil-input.js';
import type { LinkRequest } from './link.js';

const COMPLETE = '{"content":[],"resultType":"complete"}';
const ELICITATION = '{"method":"elicitation/create","params":{"message":"Name?","mode":"form"}}';

const required = (requests: string | undefined, state?: string): JsonText =>
  new JsonText(
    `{"resultType":"input_required"${requests ? `,"inputRequests":${requests}` : ''}${
      state ? `,"requestState":${state}` : ''
    }}`,
  );

/** The server answers each retry with the next of these texts. */
function fulfil(
  first: JsonText,
  answers: readonly (string | JsonText)[] = [COMPLETE],
  params = '{"name":"a"}',
) {
  const caller = new FakeClient('c', { elicitation: {}, sampling: {}, roots: {} }).call();
  const retries: string[] = [];
  const positions: (readonly Member[] | undefined)[] = [];
  const send = ({ params: sent, paramsMembers }: LinkRequest): Promise<JsonText> => {
    positions.push(paramsMembers);
    const answer = answers[retries.length] ?? COMPLETE;
    retries.push(sent ?? '');
    return Promise.resolve(typeof answer === 'string' ? new JsonText(answer) : answer);
  };
  const paramsMembers = membersOf(params);
  const request = { method: 'tools/call', params, paramsMembers, caller, timeoutMs: 1000 };
  return { result: fulfilInput(first, request, send), caller, retries, positions };
}

const problemOf = async (result: Promise<unknown>): Promise<string> => {
  const error = await refusalOf(result);
  expect(error).toBeInstanceOf(InputError);
  return error.message;
};

async function answerAll({ requests }: FakeCaller, answer: object): Promise<void> {
  await until('the client is asked', () => requests.length > 0);
  for (const request of requests.splice(0)) request.answer(answer);
}

describe('fulfilInput', () => {
  it('sends the answers with the exact state', async () => {
    const state = '"\\u0041 \\/ é"';
    const { result, caller, retries } = fulfil(
      required(`{"who":${ELICITATION}}`, state),
      [COMPLETE],
      '{"name" : 1.0}',
    );
    await answerAll(caller, { action: 'accept', content: { name: 'Ada' } });
    expect((await result).text).toBe(COMPLETE);
    expect(retries).toHaveLength(1);
    expect(memberText(retries[0]!, 'requestState')).toBe(state);
    expect(memberText(retries[0]!, 'name')).toBe('1.0');
    expect(JSON.parse(memberText(retries[0]!, 'inputResponses')!)).toEqual({
      who: { action: 'accept', content: { name: 'Ada' } },
    });
  });

  it('repeats the request without the positions of its first params', async () => {
    const { result, caller, positions } = fulfil(required(`{"who":${ELICITATION}}`));
    await answerAll(caller, { action: 'decline' });
    await result;
    expect(positions).toEqual([undefined]);
  });

  it('asks all questions of a result at once', async () => {
    const { caller } = fulfil(
      required(
        `{"a":${ELICITATION},"b":{"method":"roots/list"},"c":{"method":"sampling/createMessage","params":{}}}`,
      ),
    );
    await flushPromises();
    expect(caller.requests.map(({ method, params }) => [method, params])).toEqual([
      ['elicitation/create', { message: 'Name?', mode: 'form' }],
      ['roots/list', undefined],
      ['sampling/createMessage', {}],
    ]);
  });

  it('makes URIs in the params public', async () => {
    const caller = new FakeClient('c').call();
    const request = { method: 'tools/call', caller, timeoutMs: 1000 };
    void fulfilInput(
      required('{"a":{"method":"sampling/createMessage","params":{"uri":"own"}}}'),
      request,
      () => Promise.resolve(new JsonText(COMPLETE)),
      () => new JsonText('{"uri":"public"}'),
    ).catch(() => {});
    await flushPromises();
    expect(caller.requests[0]?.params).toEqual({ uri: 'public' });
  });

  it('repeats the request after a pause when the server only sent a state', async () => {
    const startedAt = performance.now();
    const { result, retries } = fulfil(required(undefined, '"later"'));
    await result;
    expect(retries).toEqual(['{"name":"a","requestState":"later"}']);
    expect(performance.now() - startedAt).toBeGreaterThan(200);
  });

  it(`refuses more than ${MAX_INPUT_ROUNDS} rounds`, async () => {
    const again = required(`{"a":${ELICITATION}}`);
    const { result, caller, retries } = fulfil(again, Array<JsonText>(20).fill(again));
    const problem = problemOf(result);
    for (let round = 0; round < MAX_INPUT_ROUNDS; round++) await answerAll(caller, { action: 'decline' });
    expect(await problem).toBe('the server still requires input after 8 rounds');
    expect(retries).toHaveLength(MAX_INPUT_ROUNDS);
  });

  it(`refuses more than ${MAX_INPUT_REQUESTS} questions at once`, async () => {
    const questions = Array.from(
      { length: MAX_INPUT_REQUESTS + 1 },
      (_, index) => `"${index}":${ELICITATION}`,
    );
    const { result, caller } = fulfil(required(`{${questions.join(',')}}`));
    expect(await problemOf(result)).toContain('more than 16 questions');
    expect(caller.requests).toEqual([]);
  });

  it.each([
    [required(undefined), 'does not say which'],
    [required('{}'), 'does not say which'],
    [required('[]'), 'does not say which'],
    [required('{"a":1}'), 'does not know'],
    [required('{"a":{"method":"tools/call"}}'), 'does not know'],
    [required('{"a":{"params":{}}}'), 'does not know'],
  ])('refuses %o', async (first, problem) => {
    expect(await problemOf(fulfil(first).result)).toContain(problem);
  });

  it('refuses a result that is too long to read and send back', async () => {
    const { result, caller } = fulfil(required(`{"a":${ELICITATION}}`, `"${'x'.repeat(MAX_INPUT_BYTES)}"`));
    expect(await problemOf(result)).toBe(
      'the server requires input with a result of more than 4194304 bytes',
    );
    expect(caller.requests).toEqual([]);
  });

  it('replaces answers and a state that the client wrote', async () => {
    const params = '{"inputResponses":1,"name":1.0,"requestState":2,"inputResponses":3}';
    const { result, caller, retries } = fulfil(required(`{"a":${ELICITATION}}`, '"s"'), [COMPLETE], params);
    await answerAll(caller, { action: 'decline' });
    await result;
    const answers = '{"a":{"action":"decline"}}';
    expect(retries).toEqual([
      `{"inputResponses":${answers},"name":1.0,"requestState":"s","inputResponses":${answers}}`,
    ]);
  });

  it('refuses a result of an unknown type', async () => {
    const { result, caller } = fulfil(required(`{"a":${ELICITATION}}`), ['{"resultType":"task"}']);
    const problem = problemOf(result);
    await answerAll(caller, {});
    expect(await problem).toContain('unknown type');
  });

  it('fails when the client refuses a question, and withdraws the others', async () => {
    const { result, caller, retries } = fulfil(required(`{"a":${ELICITATION},"b":${ELICITATION}}`));
    const problem = problemOf(result);
    await flushPromises();
    caller.requests[0]!.decline(new Error('not now'));
    expect(await problem).toBe('not now');
    expect(caller.requests[1]!.options.signal.aborted).toBe(true);
    expect(retries).toEqual([]);
  });

  it('withdraws its questions after ten minutes without an answer', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    onCleanup(() => jest.useRealTimers());
    const { result, caller } = fulfil(required(`{"a":${ELICITATION}}`));
    const problem = problemOf(result);
    await flushPromises();
    const [question] = caller.requests;
    jest.advanceTimersByTime(599_999);
    expect(question!.options.signal.aborted).toBe(false);
    jest.advanceTimersByTime(1);
    expect(question!.options.signal.aborted).toBe(true);
    expect(await problem).toBe('withdrawn');
  });

  it('ends when the call is cancelled, and withdraws its questions', async () => {
    const { result, caller } = fulfil(required(`{"a":${ELICITATION}}`));
    const outcome = outcomeOf(result);
    await flushPromises();
    caller.cancel();
    await flushPromises();
    expect(outcome.error).toMatchObject({ kind: 'cancelled' });
    expect(caller.requests[0]!.options.signal.aborted).toBe(true);
    expect(caller.abortListeners).toBe(0);
  });

  it('gives an elicitation by URL an id, and reports when the call has ended', async () => {
    const byUrl = '{"method":"elicitation/create","params":{"mode":"url","url":"https://a.example"}}';
    const { result, caller } = fulfil(required(`{"a":${byUrl}}`));
    await flushPromises();
    const params = caller.requests[0]!.params as { elicitationId: string };
    expect(params).toEqual({ mode: 'url', url: 'https://a.example', elicitationId: expect.any(String) });
    await answerAll(caller, { action: 'accept' });
    await result;
    expect(caller.notifications).toEqual([
      { method: 'notifications/elicitation/complete', params: { elicitationId: params.elicitationId } },
    ]);
  });
});
