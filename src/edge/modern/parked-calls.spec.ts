import { describe, expect, it } from '@jest/globals';
import { advanceTime, useFakeTime } from '../../../test/kit/fake-time.js';
import { BOB, ParkingGateway, PARAMS, QuestionedClientCall } from '../../../test/kit/parked-call-harness.js';
import { flushPromises, type Outcome } from '../../../test/kit/promises.js';
import { scopeOf } from '../../core/scope.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import { MAX_QUESTIONS } from './parkable-call.js';

useFakeTime();

async function parkedCall(
  gateway = new ParkingGateway(),
): Promise<{ gateway: ParkingGateway; call: QuestionedClientCall; answer: Outcome<JsonText> }> {
  const call = new QuestionedClientCall(gateway);
  const answer = call.ask('elicitation/create', { message: 'name?' });
  await flushPromises();
  return { gateway, call, answer };
}

describe('a parked call', () => {
  it('asks its client with a result, and passes the answer to the server', async () => {
    const { gateway, call, answer } = await parkedCall();
    expect(call.received).toEqual([
      {
        resultType: 'input_required',
        inputRequests: { q1: { method: 'elicitation/create', params: { message: 'name?' } } },
        requestState: expect.any(String),
      },
    ]);
    expect(gateway.parked.size).toBe(1);
    call.retry({ q1: { action: 'accept', content: { n: 1 } } });
    await flushPromises();
    expect(answer.value?.value).toEqual({ action: 'accept', content: { n: 1 } });
    expect(gateway.parked.size).toBe(0);
    expect(await gateway.counted('answered')).toBe(1);
  });

  it('asks the questions together that arrive together, and later ones in the next round', async () => {
    const gateway = new ParkingGateway();
    const call = new QuestionedClientCall(gateway);
    const answers = [call.ask('sampling/createMessage'), call.ask('roots/list')];
    await flushPromises();
    const whileParked = call.ask();
    await flushPromises();
    expect(call.received.map(({ inputRequests }) => Object.keys(inputRequests))).toEqual([['q1', 'q2']]);
    call.retry({ q1: { a: 1 }, q2: { a: 2 } });
    await flushPromises();
    expect(answers.map(({ value }) => value?.text)).toEqual(['{"a":1}', '{"a":2}']);
    expect(Object.keys(call.received[1]!.inputRequests)).toEqual(['q3']);
    call.retry({ q3: { a: 3 } });
    await flushPromises();
    expect(whileParked.value?.text).toBe('{"a":3}');
  });

  it.each([
    ['no answers', {}],
    ['an unknown key', { q2: {}, other: {} }],
    ['an answer that is no object', { q1: 'yes' }],
  ])('asks again after %s', async (_, answers) => {
    const { call, answer } = await parkedCall();
    call.retry(answers);
    await flushPromises();
    expect(call.received).toHaveLength(2);
    expect(call.received[1]!.inputRequests).toEqual(call.received[0]!.inputRequests);
    expect(call.received[1]!.requestState).not.toBe(call.received[0]!.requestState);
    call.retry({ q1: { action: 'decline' } });
    await flushPromises();
    expect(answer.value?.text).toBe('{"action":"decline"}');
  });

  it('does not ask a client again that no longer supports the question', async () => {
    const { call, answer } = await parkedCall();
    call.capabilities = { roots: {} };
    call.retry({});
    await flushPromises();
    expect(answer.error).toMatchObject({ kind: 'method-not-found' });
    expect(call.received).toHaveLength(1);
  });

  it('does not ask what the server has cancelled', async () => {
    const gateway = new ParkingGateway();
    const call = new QuestionedClientCall(gateway);
    const abort = new AbortController();
    const answer = call.ask('elicitation/create', {}, abort.signal);
    abort.abort();
    await flushPromises();
    expect(answer.error).toMatchObject({ kind: 'cancelled' });
    expect(call.received).toEqual([]);
    expect(call.ask('elicitation/create', {}, abort.signal)).toEqual({});
    await flushPromises();
    expect(call.received).toEqual([]);
  });

  it('has a limit of questions', async () => {
    const call = new QuestionedClientCall(new ParkingGateway());
    const answers = Array.from({ length: MAX_QUESTIONS + 1 }, () => call.ask());
    await flushPromises();
    expect(Object.keys(call.received[0]!.inputRequests)).toHaveLength(MAX_QUESTIONS);
    expect(answers.at(-1)!.error).toMatchObject({ memoryLimit: 'client-requests' });
  });

  it('expires: the question and the call fail, and the state is refused', async () => {
    const { gateway, call, answer } = await parkedCall(new ParkingGateway({ parkedMs: 120_000 }));
    await advanceTime(119_990);
    expect(call.error).toBeUndefined();
    await advanceTime(20);
    expect(call.error).toMatchObject({ kind: 'timeout', data: { code: 'TIMEOUT', server: 'server' } });
    expect(answer.error).toBe(call.error);
    expect(() => call.retry({ q1: {} })).toThrow('not answered in time');
    expect(gateway.parked.size).toBe(0);
    expect(await gateway.counted('expired')).toBe(1);
  });

  it('refuses a question that its server asked outside of the call, when the call ends before the client was asked', async () => {
    const call = new QuestionedClientCall(new ParkingGateway());
    const answer = call.ask();
    call.finish();
    await flushPromises();
    expect(answer.error).toMatchObject({ kind: 'cancelled' });
    expect(call.received).toEqual([]);
  });

  it('is kept for its client when the server has finished it, until it expires', async () => {
    const { gateway, call } = await parkedCall();
    call.finish();
    expect(call.retry({})).toBeDefined();
    const abandoned = await parkedCall(gateway);
    abandoned.call.finish();
    await advanceTime(200_000);
    expect(abandoned.call.error).toBeUndefined();
    expect(gateway.parked.size).toBe(0);
  });

  it('expires early if other calls wait for a server that runs one call at a time', async () => {
    const gateway = new ParkingGateway();
    gateway.server.concurrency = 1;
    gateway.server.runsOneCall = true;
    const { call } = await parkedCall(gateway);
    await advanceTime(60_000);
    expect(call.error).toBeUndefined();
    gateway.server.waiting = 1;
    await advanceTime(1100);
    expect(call.error).toMatchObject({ kind: 'timeout' });
  });

  it('does not expire early because calls wait for a server that runs several', async () => {
    const { gateway, call } = await parkedCall();
    gateway.server.waiting = 1;
    await advanceTime(60_000);
    expect(call.error).toBeUndefined();
  });
});

describe('the state of a parked call', () => {
  it.each([
    ['changed', (state: string) => ({ state: `${state.slice(0, -4)}AAAA` }), 'was changed'],
    ['of another principal', () => ({ principal: BOB }), 'another request or principal'],
    [
      'of a request with other arguments',
      () => ({ params: PARAMS.replace('1', '2') }),
      'another request or principal',
    ],
  ])('is refused if it is %s, and the call waits on', async (_, change, message) => {
    const { call, answer } = await parkedCall();
    const { requestState } = call.received[0]!;
    expect(() => call.retry({ q1: {} }, change(requestState))).toThrow(message);
    expect(() => call.retry({ q1: {} }, change(requestState))).toThrow(
      'Repeat the request without requestState and inputResponses',
    );
    call.retry({ q1: { ok: true } });
    await flushPromises();
    expect(answer.value?.text).toBe('{"ok":true}');
  });

  it('is valid once: neither while the call runs, nor in a later round, nor after the call', async () => {
    const { gateway, call } = await parkedCall();
    const state = call.received[0]!.requestState;
    call.retry({ q1: {} });
    expect(() => call.retry({ q1: {} }, { state })).toThrow('answered already');
    await flushPromises();
    call.ask();
    await flushPromises();
    expect(() => call.retry({ q2: {} }, { state })).toThrow('answered already');
    const found = call.retry({ q2: {} });
    gateway.parked.end(found!);
    expect(() => call.retry({ q2: {} })).toThrow('the call has ended');
  });

  it('is left to the server if it is not of this process', async () => {
    const { call } = await parkedCall();
    const { call: other } = await parkedCall();
    for (const state of ['opaque', '', other.received[0]!.requestState])
      expect(call.retry({}, { state })).toBeUndefined();
  });

  it('is refused when the principal has lost the server, and the call is cancelled', async () => {
    const { gateway, call } = await parkedCall();
    gateway.scope = scopeOf(['other']);
    expect(() => call.retry({ q1: {} })).toThrow('the call has ended');
    expect(call.error).toBeDefined();
    expect(gateway.parked.size).toBe(0);
  });
});

describe('parked calls', () => {
  it.each([
    [8, 'shared', 4],
    [2, 'shared', 1],
    [1, 'shared', 1],
    [16, 'exclusive', 1],
  ])('of a server with concurrency %s (%s) are at most %s', async (concurrency, isolation, limit) => {
    const gateway = new ParkingGateway();
    Object.assign(gateway.server, { concurrency, isolation });
    for (let n = 0; n < limit; n++) await parkedCall(gateway);
    const { call, answer } = await parkedCall(gateway);
    expect(call.received).toEqual([]);
    expect(call.error).toMatchObject({ kind: 'limit-exceeded', data: { code: 'LimitExceeded', limit } });
    expect(answer.error).toBe(call.error);
    expect(gateway.parked.size).toBe(limit);
    expect(await gateway.counted('refused')).toBe(1);
    expect(await gateway.metrics.text()).toContain(
      'gatehouse_limit_refusals_total{limit="parkedPerServer"} 1',
    );
  });

  it('of a full server leave room for a principal with fewer of them, the oldest first', async () => {
    const gateway = new ParkingGateway();
    gateway.server.concurrency = 10;
    const ofAlice: QuestionedClientCall[] = [];
    for (let n = 0; n < 5; n++) ofAlice.push((await parkedCall(gateway)).call);
    const ofBob: QuestionedClientCall[] = [];
    for (let n = 0; n < 3; n++) {
      const call = new QuestionedClientCall(gateway, BOB);
      call.ask();
      await flushPromises();
      ofBob.push(call);
    }
    expect(ofAlice.map(({ error }) => error?.kind)).toEqual([
      'cancelled',
      'cancelled',
      undefined,
      undefined,
      undefined,
    ]);
    expect(ofBob.map(({ error }) => error?.kind)).toEqual([undefined, undefined, 'limit-exceeded']);
    expect(() => ofAlice[0]!.retry({ q1: {} })).toThrow('the call has ended');
    expect([gateway.parked.size, await gateway.counted('cancelled')]).toEqual([5, 2]);
    expect(await gateway.metrics.text()).toContain(
      'gatehouse_limit_refusals_total{limit="parkedPerServer"} 3',
    );
  });

  it('of one principal are limited, and those of others are not', async () => {
    const gateway = new ParkingGateway({ parkedCalls: 2 });
    const first = await parkedCall(gateway);
    await parkedCall(gateway);
    const refused = await parkedCall(gateway);
    expect(refused.call.error).toMatchObject({ kind: 'limit-exceeded', data: { limit: 2 } });
    const bob = new QuestionedClientCall(gateway, BOB);
    bob.ask();
    await flushPromises();
    expect(bob.received).toHaveLength(1);
    first.call.retry({ q1: {} });
    expect((await parkedCall(gateway)).call.received).toHaveLength(1);
    expect(await gateway.metrics.text()).toContain('gatehouse_limit_refusals_total{limit="parkedCalls"} 1');
  });

  it('are shown by a gauge', async () => {
    const { gateway, call } = await parkedCall();
    expect(await gateway.metrics.text()).toContain('gatehouse_parked_calls{server_id="server"} 1');
    call.retry({ q1: {} });
    expect(await gateway.metrics.text()).not.toContain('gatehouse_parked_calls{');
  });

  it.each([
    ['their server is disabled', (gateway: ParkingGateway) => gateway.server.retire(), 'disabled'],
    ['the gateway stops', (gateway: ParkingGateway) => gateway.parked.cancelAll(), 'stopping'],
    [
      'their credentials are revoked',
      (gateway: ParkingGateway) => gateway.parked.cancelRevoked(({ id }) => id !== 'alice'),
      'credentials',
    ],
  ])('are cancelled when %s', async (_, act, message) => {
    const { gateway, call, answer } = await parkedCall();
    act(gateway);
    await flushPromises();
    expect(call.error?.message).toContain(message);
    expect(answer.error).toBe(call.error);
    expect(gateway.parked.size).toBe(0);
    expect(() => call.retry({ q1: {} })).toThrow('the call has ended');
    expect(await gateway.counted('cancelled')).toBe(1);
  });

  it('of others stay when credentials are revoked', async () => {
    const { gateway, call } = await parkedCall();
    gateway.parked.cancelRevoked(({ id }) => id !== 'bob');
    expect(call.error).toBeUndefined();
    expect(gateway.parked.size).toBe(1);
  });
});
