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
    const served = await BackendHarness.ready();
    const caller = new FakeClient('a').call();
    const result = served.backend.call({ method: 'tools/call', params: '{"n":1.0}', caller });
    const asked = await served.pendingCall();
    expect(asked).toMatchObject({ method: 'tools/call', params: '{"n":1.0}', caller, timeoutMs: 1000 });
    asked.answer('{ "x": 1.0 }');
    expect((await result).text).toBe('{ "x": 1.0 }');
  });

  it.each<[string, (served: BackendHarness) => Promise<void> | void, string]>([
    ['was never started', () => {}, 'stopped'],
    [
      'is being connected to',
      (served) => {
        served.connect = () => new Promise(() => {});
        served.backend.start();
      },
      'connecting',
    ],
    [
      'cannot be reached',
      (served) => {
        served.connect = () => Promise.reject(new Error('no route'));
        served.backend.start();
      },
      'no route',
    ],
    [
      'has crashed',
      async (served) => {
        served.backend.start();
        await flushPromises();
        served.link.disconnect(new Error('exited with code 1'));
      },
      'exited with code 1',
    ],
  ])('rejects at once with the cause when the server %s', async (_what, prepare, why) => {
    const served = new BackendHarness();
    await prepare(served);
    await flushPromises();
    const error = await refusalOf(served.call());
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
    const served = await BackendHarness.ready();
    const refusal = refusalOf(served.call());
    (await served.pendingCall()).fail(fault(kind));
    const error = await refusal;
    expect(error).toMatchObject({ kind: expected, data: { server: 'db' } });
    expect(error.cause).toMatchObject({ fault: kind });
    expect(served.link.count('tools/call')).toBe(1);
  });

  it.each([new RemoteError(-1, 'no', '{}'), timeout(), new GatewayError('cancelled', 'x')])(
    'passes on the error %s',
    async (error) => {
      const served = await BackendHarness.ready();
      const refusal = refusalOf(served.call());
      (await served.pendingCall()).fail(error);
      expect(await refusal).toBe(error);
    },
  );

  it('rejects running and queued calls when the server crashes', async () => {
    const served = await BackendHarness.ready({ concurrency: 1 });
    const refusals = [refusalOf(served.call()), refusalOf(served.call())];
    expect(served.backend.status()).toMatchObject({ inFlight: 1, waiting: 1 });
    served.link.disconnect(new Error('killed'));
    for (const error of await Promise.all(refusals))
      expect(error).toMatchObject({ kind: 'server-unavailable' });
    await flushPromises();
    expect(served.backend.status()).toMatchObject({ inFlight: 0, waiting: 0 });
    expect(served.link.count('tools/call')).toBe(1);
  });

  it.each([
    ['exclusive', false],
    ['shared', true],
  ] as const)('on a server with %s isolation runs beside other calls: %s', async (isolation, beside) => {
    const served = await BackendHarness.ready({ isolation });
    void outcomeOf(served.call());
    void outcomeOf(served.call(new FakeClient('b')));
    expect(served.backend.status().inFlight).toBe(beside ? 2 : 1);
  });

  it('runs an exclusive call alone', async () => {
    const served = await BackendHarness.ready();
    const caller = new FakeClient('a').call();
    void outcomeOf(served.backend.call({ method: 'tools/call', params: undefined, caller, exclusive: true }));
    void outcomeOf(served.call());
    expect(served.backend.status()).toMatchObject({ inFlight: 1, waiting: 1 });
  });
});

describe('Backend.call after an expired session', () => {
  it('is sent once more over the next link', async () => {
    const served = await BackendHarness.ready();
    const result = served.call();
    await served.expireSession();
    await flushPromises();
    expect(served.links).toHaveLength(2);
    (await served.pendingCall()).answer({ n: 2 });
    expect((await result).text).toBe('{"n":2}');
  });

  it('rejects when the session expires a second time', async () => {
    const served = await BackendHarness.ready();
    const refusal = refusalOf(served.call());
    await served.expireSession();
    await flushPromises();
    await served.expireSession();
    expect(await refusal).toMatchObject({ kind: 'server-unavailable' });
    await flushPromises();
    expect(served.links.map((link) => link.count('tools/call'))).toEqual([1, 1, 0]);
  });

  it('rejects when the next link cannot be opened', async () => {
    const served = await BackendHarness.ready();
    const refusal = refusalOf(served.call());
    served.connect = () => Promise.reject(new TransportError('unreachable', 'still down'));
    await served.expireSession();
    expect(await refusal).toMatchObject({ kind: 'server-unavailable' });
  });

  it('waits while the next link is opened, or rejects when that fails', async () => {
    const served = await BackendHarness.ready();
    const arrivals = [deferred<Link | Error>(), deferred<Link | Error>()];
    served.connect = async () => {
      const link = await arrivals[served.links.length - 1]!.promise;
      if (link instanceof Error) throw link;
      return link;
    };
    served.link.disconnect(fault('session-lost'));
    await flushPromises();
    const result = served.call();
    arrivals[0]!.resolve(new FakeLink());
    await flushPromises();
    (await served.pendingCall()).answer({ n: 1 });
    expect((await result).text).toBe('{"n":1}');
    served.link.disconnect(fault('session-lost'));
    await flushPromises();
    const refusal = refusalOf(served.call());
    arrivals[1]!.resolve(new TransportError('unreachable', 'still down'));
    expect(await refusal).toMatchObject({ kind: 'server-unavailable' });
    expect(await refusalOf(served.call())).toMatchObject({ kind: 'server-unavailable' });
  });

  it('sends queued calls over the next link', async () => {
    const served = await BackendHarness.ready({ isolation: 'exclusive' });
    const results = [served.call(), served.call(new FakeClient('b'))];
    await served.expireSession();
    await flushPromises();
    for (const [n, result] of results.entries()) {
      (await served.pendingCall()).answer({ n });
      expect((await result).text).toBe(`{"n":${n}}`);
    }
    expect(served.links.map((link) => link.count('tools/call'))).toEqual([1, 2]);
  });

  it('rejects a call that was cancelled meanwhile', async () => {
    const served = await BackendHarness.ready();
    const caller = new FakeClient('a').call();
    const refusal = refusalOf(served.backend.call({ method: 'tools/call', params: undefined, caller }));
    served.connect = () => new Promise(() => {});
    await served.expireSession();
    await flushPromises();
    caller.cancel();
    expect(await refusal).toMatchObject({ kind: 'cancelled' });
    expect(caller.abortListeners).toBe(0);
  });

  it('is sent again over real links while the lost one is closing', async () => {
    const served = new BackendHarness();
    const lost = await linkTo({
      onSend: ({ method }) => (method === 'tools/call' ? Promise.reject(fault('session-lost')) : undefined),
      onClose: flushPromises,
    });
    const next = await linkTo();
    served.connect = () => Promise.resolve(served.links.length === 0 ? lost.link : next.link);
    served.backend.start();
    await flushPromises();
    const outcome = outcomeOf(served.call());
    for (let n = 0; n < 5; n++) await flushPromises();
    next.transport.answer(next.transport.only('tools/call').id, { n: 1 });
    await flushPromises();
    expect(outcome.value?.text).toBe('{"n":1}');
  });
});

/** Three calls in a row time out. */
async function hang(served: BackendHarness): Promise<void> {
  for (let n = 0; n < 3; n++) {
    const refusal = refusalOf(served.call());
    (await served.pendingCall()).fail(timeout());
    await refusal;
  }
}

describe('Backend of a server that does not answer', () => {
  it('is unresponsive after three timeouts, and rejects calls at once until a ping is answered', async () => {
    const served = await BackendHarness.ready();
    await hang(served);
    expect(served.state).toBe('unresponsive');
    expect(await refusalOf(served.call())).toMatchObject({
      kind: 'server-unavailable',
      message: 'SERVER_UNAVAILABLE: server db is not available: it does not answer',
    });
    expect(served.link.count('tools/call')).toBe(3);
    await advanceTime(1000);
    served.link.asked('ping').answer({});
    await flushPromises();
    expect(served.state).toBe('ready');
    const result = served.call();
    (await served.pendingCall()).answer({});
    await expect(result).resolves.toBeDefined();
  });

  it('is not unresponsive when the server answers with an error in between', async () => {
    const served = await BackendHarness.ready();
    for (const error of [timeout(), timeout(), new RemoteError(1, 'no', '{}'), timeout(), timeout()]) {
      const refusal = refusalOf(served.call());
      (await served.pendingCall()).fail(error);
      await refusal;
    }
    expect(served.state).toBe('ready');
  });

  it('is ready again over its next link', async () => {
    const served = await BackendHarness.ready();
    await hang(served);
    served.link.disconnect();
    await advanceTime(500);
    expect(served.state).toBe('ready');
  });

  it('is not unresponsive when calls over one session link time out', async () => {
    const served = await BackendHarness.ready({ isolation: 'session' });
    await hang(served);
    expect(served.state).toBe('ready');
    const result = served.call(new FakeClient('b'));
    await flushPromises();
    (await served.pendingCall()).answer({});
    await expect(result).resolves.toBeDefined();
  });
});

describe('Backend.status', () => {
  it('describes the open link', async () => {
    const served = new BackendHarness();
    const link = Object.assign(new FakeLink({}, { instructions: 'x' }), { pid: 42 });
    link.stderr.push('listening');
    served.connect = () => Promise.resolve(link);
    served.backend.start();
    await flushPromises();
    expect(served.backend.status()).toMatchObject({
      id: 'db',
      state: 'ready',
      restarts: 0,
      pid: 42,
      facts: { instructions: 'x' },
      stderr: ['listening'],
    });
  });

  it('keeps the stderr of a lost link', async () => {
    const served = await BackendHarness.ready();
    served.link.stderr.push('out of memory');
    served.link.disconnect(new Error('killed by SIGKILL'));
    await flushPromises();
    expect(served.backend.status()).toMatchObject({
      state: 'retrying',
      reason: 'killed by SIGKILL',
      pid: undefined,
      stderr: ['out of memory'],
    });
  });

  it('has the stderr of a server that failed to start', async () => {
    const served = new BackendHarness();
    served.connect = () => Promise.reject(new ConnectError(new Error('exited'), ['no API key']));
    served.backend.start();
    await flushPromises();
    expect(served.backend.status()).toMatchObject({ reason: 'exited', stderr: ['no API key'] });
  });
});

describe('Backend.retire', () => {
  it.each<[string, (served: BackendHarness) => void]>([
    ['the link is open', () => {}],
    ['the link is lost', (served) => served.link.disconnect()],
    ['a link is opened after an expired session', (served) => served.link.disconnect(fault('session-lost'))],
  ])('refuses calls while %s', async (_when, prepare) => {
    const served = await BackendHarness.ready();
    const running = outcomeOf(served.call());
    await flushPromises();
    void served.backend.retire();
    prepare(served);
    await flushPromises();
    expect((await refusalOf(served.call())).message).toMatch(/it was disabled$/);
    expect(running.value).toBeUndefined();
  });
});

describe('Backend.stop', () => {
  it('rejects running and queued calls, closes the link and refuses further calls', async () => {
    const served = await BackendHarness.ready({ concurrency: 1 });
    const refusals = [refusalOf(served.call()), refusalOf(served.call())];
    await served.backend.stop();
    for (const error of await Promise.all(refusals))
      expect(error).toMatchObject({ kind: 'server-unavailable' });
    expect(served.link.closes).toBeGreaterThan(0);
    expect(served.state).toBe('stopped');
    expect(await refusalOf(served.call())).toMatchObject({ kind: 'server-unavailable' });
  });
});
