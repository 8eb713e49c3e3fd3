import { describe, expect, it } from '@jest/globals';
import { FakeClient } from '../../test/kit/fake-client.js';
import { FakeLink } from '../../test/kit/fake-link.js';
import { outcomeOf, refusalOf, flushPromises } from '../../test/kit/promises.js';
import { linkTo } from '../../test/kit/fake-transport.js';
import { fault, BackendHarness } from '../../test/kit/backend-harness.js';
import { advanceTime, useFakeTime } from '../../test/kit/fake-time.js';
import { deferred } from '../../test/kit/until.js';
import { GatewayError, RemoteError } from '../core/errors.js';
import { ConnectError, type Link } from './link/link.js';
import { TransportError, type TransportFault } from './link/transport.js';

const timeout = (): GatewayError => new GatewayError('timeout', 'TIMEOUT');

useFakeTime();

describe('Backend.call', () => {
  it('resolves with the result as the server wrote it', async () => {
    const harness = await BackendHarness.ready();
    const caller = new FakeClient('a').call();
    const result = harness.backend.call({ method: 'tools/call', params: '{"n":1.0}', caller });
    const asked = await harness.pendingCall();
    expect(asked).toMatchObject({ method: 'tools/call', params: '{"n":1.0}', caller, timeoutMs: 1000 });
    asked.answer('{ "x": 1.0 }');
    expect((await result).text).toBe('{ "x": 1.0 }');
  });

  it.each<[string, (harness: BackendHarness) => Promise<void> | void, string]>([
    ['was never started', () => {}, 'it was disabled'],
    [
      'is being connected to',
      (harness) => {
        harness.connect = () => new Promise(() => {});
        harness.backend.start();
      },
      'it is starting',
    ],
    [
      'cannot be reached',
      (harness) => {
        harness.connect = () => Promise.reject(new Error('no route'));
        harness.backend.start();
      },
      'it cannot be reached',
    ],
    [
      'has crashed',
      async (harness) => {
        harness.backend.start();
        await flushPromises();
        harness.link.disconnect(new TransportError('broken', 'exited with code 1', { hasExited: true }));
      },
      'its process has ended',
    ],
  ])('rejects at once with the cause when the server %s', async (_what, prepare, why) => {
    const harness = new BackendHarness();
    await prepare(harness);
    await flushPromises();
    const error = await refusalOf(harness.call());
    expect(error).toMatchObject({
      kind: 'server-unavailable',
      message: `SERVER_UNAVAILABLE: server db is not available: ${why}`,
      data: { code: 'SERVER_UNAVAILABLE', server: 'db' },
    });
  });

  it.each<[TransportFault, string]>([
    ['unreachable', 'server-unavailable'],
    ['refused', 'server-unavailable'],
    ['broken', 'server-unavailable'],
    ['too-large', 'server-unavailable'],
    ['busy', 'overloaded'],
  ])('rejects a call that fails as %s with %s and does not repeat it', async (kind, expected) => {
    const harness = await BackendHarness.ready();
    const refusal = refusalOf(harness.call());
    (await harness.pendingCall()).fail(fault(kind));
    const error = await refusal;
    expect(error).toMatchObject({ kind: expected, data: { server: 'db' } });
    expect(error.cause).toMatchObject({ fault: kind });
    expect(harness.link.count('tools/call')).toBe(1);
  });

  it.each([new RemoteError(-1, 'no', '{}'), timeout(), new GatewayError('cancelled', 'x')])(
    'passes on the error %s',
    async (error) => {
      const harness = await BackendHarness.ready();
      const refusal = refusalOf(harness.call());
      (await harness.pendingCall()).fail(error);
      expect(await refusal).toBe(error);
    },
  );

  it('rejects running and queued calls when the server crashes', async () => {
    const harness = await BackendHarness.ready({ concurrency: 1 });
    const refusals = [refusalOf(harness.call()), refusalOf(harness.call())];
    expect(harness.backend.status()).toMatchObject({ inFlight: 1, waiting: 1 });
    harness.link.disconnect(new Error('killed'));
    for (const error of await Promise.all(refusals))
      expect(error).toMatchObject({ kind: 'server-unavailable' });
    await flushPromises();
    expect(harness.backend.status()).toMatchObject({ inFlight: 0, waiting: 0 });
    expect(harness.link.count('tools/call')).toBe(1);
  });

  it.each([
    ['exclusive', false],
    ['shared', true],
  ] as const)('with %s isolation runs concurrently with other calls: %s', async (isolation, isConcurrent) => {
    const harness = await BackendHarness.ready({ isolation });
    void outcomeOf(harness.call());
    void outcomeOf(harness.call(new FakeClient('b')));
    expect(harness.backend.status().inFlight).toBe(isConcurrent ? 2 : 1);
  });

  it('counts the time in the queue as part of the timeout of a call', async () => {
    const harness = await BackendHarness.ready({ concurrency: 1, timeoutMs: 1000 });
    const arrival = performance.now();
    const calls = [harness.call(), harness.call()];
    const gatewayRequest = harness.backend.gatewayRequest(harness.link, 'resources/read', '{}');
    const first = await harness.pendingCall();
    await advanceTime(900);
    first.answer({});
    const second = await harness.pendingCall();
    second.answer({});
    await flushPromises();
    const third = harness.link.asked('resources/read');
    expect([first, second, third].map(({ deadline }) => deadline! - arrival)).toEqual([1000, 1000, 1000]);
    third.answer({});
    await Promise.all([...calls, gatewayRequest]);
  });

  it('runs an exclusive call alone', async () => {
    const harness = await BackendHarness.ready();
    const caller = new FakeClient('a').call();
    void outcomeOf(
      harness.backend.call({ method: 'tools/call', params: undefined, caller, exclusive: true }),
    );
    void outcomeOf(harness.call());
    expect(harness.backend.status()).toMatchObject({ inFlight: 1, waiting: 1 });
  });
});

describe('Backend.call after an expired session', () => {
  it('sends the call once more over the next link', async () => {
    const harness = await BackendHarness.ready();
    const result = harness.call();
    await harness.expireSession();
    await flushPromises();
    expect(harness.links).toHaveLength(2);
    (await harness.pendingCall()).answer({ n: 2 });
    expect((await result).text).toBe('{"n":2}');
  });

  it('rejects when the session expires a second time', async () => {
    const harness = await BackendHarness.ready();
    const refusal = refusalOf(harness.call());
    await harness.expireSession();
    await flushPromises();
    await harness.expireSession();
    expect(await refusal).toMatchObject({ kind: 'server-unavailable' });
    await flushPromises();
    expect(harness.links.map((link) => link.count('tools/call'))).toEqual([1, 1, 0]);
  });

  it('rejects when the next link cannot be opened', async () => {
    const harness = await BackendHarness.ready();
    const refusal = refusalOf(harness.call());
    harness.connect = () => Promise.reject(new TransportError('unreachable', 'still down'));
    await harness.expireSession();
    expect(await refusal).toMatchObject({ kind: 'server-unavailable' });
  });

  it('waits while the next link is opened, and rejects when that fails', async () => {
    const harness = await BackendHarness.ready();
    const nextLinks = [deferred<Link | Error>(), deferred<Link | Error>()];
    harness.connect = async () => {
      const link = await nextLinks[harness.links.length - 1]!.promise;
      if (link instanceof Error) throw link;
      return link;
    };
    harness.link.disconnect(fault('session-expired'));
    await flushPromises();
    const result = harness.call();
    nextLinks[0]!.resolve(new FakeLink());
    await flushPromises();
    (await harness.pendingCall()).answer({ n: 1 });
    expect((await result).text).toBe('{"n":1}');
    harness.link.disconnect(fault('session-expired'));
    await flushPromises();
    const refusal = refusalOf(harness.call());
    nextLinks[1]!.resolve(new TransportError('unreachable', 'still down'));
    expect(await refusal).toMatchObject({ kind: 'server-unavailable' });
    expect(await refusalOf(harness.call())).toMatchObject({ kind: 'server-unavailable' });
  });

  it('sends queued calls over the next link', async () => {
    const harness = await BackendHarness.ready({ isolation: 'exclusive' });
    const results = [harness.call(), harness.call(new FakeClient('b'))];
    await harness.expireSession();
    await flushPromises();
    for (const [n, result] of results.entries()) {
      (await harness.pendingCall()).answer({ n });
      expect((await result).text).toBe(`{"n":${n}}`);
    }
    expect(harness.links.map((link) => link.count('tools/call'))).toEqual([1, 2]);
  });

  it('rejects a call that was cancelled meanwhile', async () => {
    const harness = await BackendHarness.ready();
    const caller = new FakeClient('a').call();
    const refusal = refusalOf(harness.backend.call({ method: 'tools/call', params: undefined, caller }));
    harness.connect = () => new Promise(() => {});
    await harness.expireSession();
    await flushPromises();
    caller.cancel();
    expect(await refusal).toMatchObject({ kind: 'cancelled' });
    expect(caller.abortListeners).toBe(0);
  });

  it('sends the call again over real links while the lost link is closing', async () => {
    const harness = new BackendHarness();
    const lost = await linkTo({
      onSend: ({ method }) =>
        method === 'tools/call' ? Promise.reject(fault('session-expired')) : undefined,
      onClose: flushPromises,
    });
    const next = await linkTo();
    harness.connect = () => Promise.resolve(harness.links.length === 0 ? lost.link : next.link);
    harness.backend.start();
    await flushPromises();
    const outcome = outcomeOf(harness.call());
    for (let n = 0; n < 5; n++) await flushPromises();
    next.transport.answer(next.transport.only('tools/call').id, { n: 1 });
    await flushPromises();
    expect(outcome.value?.text).toBe('{"n":1}');
  });
});

async function timeOutThreeCalls(harness: BackendHarness): Promise<void> {
  for (let n = 0; n < 3; n++) {
    const refusal = refusalOf(harness.call());
    (await harness.pendingCall()).fail(timeout());
    await refusal;
  }
}

async function makeUnresponsive(harness: BackendHarness): Promise<void> {
  await timeOutThreeCalls(harness);
  harness.link.asked('ping').fail(timeout());
  await flushPromises();
}

describe('Backend of a server that does not answer', () => {
  it('is unresponsive after three timeouts and an unanswered ping, and rejects calls at once until one is answered', async () => {
    const harness = await BackendHarness.ready();
    await makeUnresponsive(harness);
    expect(harness.state).toBe('unresponsive');
    expect(await refusalOf(harness.call())).toMatchObject({
      kind: 'server-unavailable',
      message: 'SERVER_UNAVAILABLE: server db is not available: it does not answer',
    });
    expect(harness.link.count('tools/call')).toBe(3);
    await advanceTime(1000);
    harness.link.asked('ping').answer({});
    await flushPromises();
    expect(harness.state).toBe('ready');
    const result = harness.call();
    (await harness.pendingCall()).answer({});
    await expect(result).resolves.toBeDefined();
  });

  it('is not unresponsive when the server answers with an error in between', async () => {
    const harness = await BackendHarness.ready();
    for (const error of [timeout(), timeout(), new RemoteError(1, 'no', '{}'), timeout(), timeout()]) {
      const refusal = refusalOf(harness.call());
      (await harness.pendingCall()).fail(error);
      await refusal;
    }
    expect(harness.state).toBe('ready');
  });

  it('is ready again over its next link', async () => {
    const harness = await BackendHarness.ready();
    await makeUnresponsive(harness);
    harness.link.disconnect();
    await advanceTime(500);
    expect(harness.state).toBe('ready');
  });

  it('is not unresponsive when calls over one session link time out', async () => {
    const harness = await BackendHarness.ready({ isolation: 'session' });
    await timeOutThreeCalls(harness);
    expect(harness.state).toBe('ready');
    const result = harness.call(new FakeClient('b'));
    await flushPromises();
    (await harness.pendingCall()).answer({});
    await expect(result).resolves.toBeDefined();
  });
});

describe('Backend with a link per session', () => {
  it('rejects a call at its deadline while its link is being opened', async () => {
    const harness = await BackendHarness.ready({ isolation: 'session' });
    harness.connect = () => new Promise(() => {});
    const outcome = outcomeOf(harness.call());
    await advanceTime(999);
    expect(outcome).toEqual({});
    await advanceTime(1);
    expect(outcome.error).toMatchObject({ kind: 'timeout' });
    expect(harness.backend.status().inFlight).toBe(0);
  });
});

describe('Backend.status', () => {
  it('describes the open link', async () => {
    const harness = new BackendHarness();
    const link = Object.assign(new FakeLink({}, { instructions: 'x' }), { pid: 42 });
    link.stderr.push('listening');
    harness.connect = () => Promise.resolve(link);
    harness.backend.start();
    await flushPromises();
    expect(harness.backend.status()).toMatchObject({
      id: 'db',
      state: 'ready',
      restarts: 0,
      pid: 42,
      facts: { instructions: 'x' },
      stderr: ['listening'],
    });
  });

  it('keeps the stderr of a lost link', async () => {
    const harness = await BackendHarness.ready();
    harness.link.stderr.push('out of memory');
    harness.link.disconnect(new Error('killed by SIGKILL'));
    await flushPromises();
    expect(harness.backend.status()).toMatchObject({
      state: 'retrying',
      reason: 'killed by SIGKILL',
      pid: undefined,
      stderr: ['out of memory'],
    });
  });

  it('has the stderr of a server that failed to start', async () => {
    const harness = new BackendHarness();
    harness.connect = () => Promise.reject(new ConnectError(new Error('exited'), ['no API key']));
    harness.backend.start();
    await flushPromises();
    expect(harness.backend.status()).toMatchObject({ reason: 'exited', stderr: ['no API key'] });
  });
});

describe('Backend.retire', () => {
  it.each<[string, (harness: BackendHarness) => void]>([
    ['the link is open', () => {}],
    ['the link is lost', (harness) => harness.link.disconnect()],
    [
      'a link is opened after an expired session',
      (harness) => harness.link.disconnect(fault('session-expired')),
    ],
  ])('refuses calls while %s', async (_when, prepare) => {
    const harness = await BackendHarness.ready();
    const running = outcomeOf(harness.call());
    await flushPromises();
    void harness.backend.retire();
    prepare(harness);
    await flushPromises();
    expect((await refusalOf(harness.call())).message).toMatch(/it was disabled$/);
    expect(running.value).toBeUndefined();
  });
});

describe('Backend.stop', () => {
  it('rejects running and queued calls, closes the link and refuses further calls', async () => {
    const harness = await BackendHarness.ready({ concurrency: 1 });
    const refusals = [refusalOf(harness.call()), refusalOf(harness.call())];
    await harness.backend.stop();
    for (const error of await Promise.all(refusals))
      expect(error).toMatchObject({ kind: 'server-unavailable' });
    expect(harness.link.closes).toBeGreaterThan(0);
    expect(harness.state).toBe('stopped');
    expect(await refusalOf(harness.call())).toMatchObject({ kind: 'server-unavailable' });
  });
});
