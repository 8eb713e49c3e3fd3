import { describe, expect, it } from '@jest/globals';
import { BackendHarness } from '../../test/kit/backend-harness.js';
import { FakeClient } from '../../test/kit/fake-client.js';
import { FakeLink } from '../../test/kit/fake-link.js';
import { useFakeTime } from '../../test/kit/fake-time.js';
import { outcomeOf, flushPromises, refusalOf } from '../../test/kit/promises.js';

const CAPABILITIES = { tools: {}, prompts: {}, resources: { subscribe: true }, logging: {} };

/** A backend at a server with all lists, of which the spec answers every request. */
async function readyBackend(concurrency: number): Promise<BackendHarness> {
  const harness = new BackendHarness({ concurrency });
  harness.connect = () => Promise.resolve(new FakeLink({}, { capabilities: CAPABILITIES }));
  harness.backend.setLogLevel('debug');
  harness.backend.start();
  await flushPromises();
  return harness;
}

useFakeTime();

describe('The concurrency of a backend', () => {
  it('limits lists, log levels, subscriptions, polls and calls together', async () => {
    const harness = await readyBackend(1);
    const { backend, link } = harness;
    void outcomeOf(harness.call());
    for (const method of ['resources/subscribe', 'resources/read'])
      void outcomeOf(backend.gatewayRequest(link, method, '{"uri":"x://1"}'));
    const methods: string[] = [];
    for (let n = 0; n < 8; n++) {
      await flushPromises();
      expect([link.inFlight.size, backend.status().inFlight]).toEqual([1, 1]);
      const [asked] = link.inFlight;
      methods.push(asked!.method);
      asked!.answer({});
    }
    await flushPromises();
    expect(methods.toSorted()).toEqual([
      'logging/setLevel',
      'prompts/list',
      'resources/list',
      'resources/read',
      'resources/subscribe',
      'resources/templates/list',
      'tools/call',
      'tools/list',
    ]);
    expect([link.inFlight.size, backend.status().inFlight, backend.status().waiting]).toEqual([0, 0, 0]);
  });

  it('leaves slots for calls while all lists hang', async () => {
    const harness = await readyBackend(2);
    const answer = harness.call();
    (await harness.pendingCall()).answer({ n: 1 });
    expect((await answer).toJSON()).toEqual({ n: 1 });
  });

  it('lets a server be disabled without waiting for its lists', async () => {
    const harness = await readyBackend(1);
    const call = refusalOf(harness.call(new FakeClient('a')));
    await harness.backend.retire();
    expect(await call).toMatchObject({ kind: 'server-unavailable', data: { reason: 'disabled' } });
    expect(harness.link.closes).toBeGreaterThan(0);
  });
});
