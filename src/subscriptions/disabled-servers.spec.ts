import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeSubscriber } from '../../test/kit/fake-client.js';
import { FakeServer } from '../../test/kit/fake-server.js';
import { flushPromises } from '../../test/kit/promises.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { SubscriptionHarness, type HarnessOptions } from '../../test/kit/subscription-harness.js';
import { EVERYTHING } from '../core/scope.js';
import { sliceScheduler } from '../lib/slices/slices.js';

const DELETED = ' deleted';
const publicly = (uri: string): string => `resource://s/${uri}`;
const ENTRIES: readonly [string, boolean, object][] = [
  ['supports subscriptions', true, {}],
  ['does not support subscriptions', false, {}],
  ['is polled', false, { watch: { pollMs: 1000 } }],
  ['has session links', true, { isolation: 'session' }],
];

let server: FakeServer;
let client: FakeSubscriber;
let harness: SubscriptionHarness;

async function open(supportsSubscriptions = true, options: HarnessOptions = {}): Promise<void> {
  server = new FakeServer(['x://a', 'x://b', 'y://c'], supportsSubscriptions);
  server.templates = ['t://{id}'];
  client = new FakeSubscriber('a');
  harness = await SubscriptionHarness.open({ s: server }, options);
}

async function enable(enabled: boolean): Promise<void> {
  await harness.enable('s', enabled);
  await harness.pass(100);
}

/** Own URIs of the updates since the last call, sorted, with a mark for deletions. */
function takeUpdates(): string[] {
  const taken = client.updates.map(({ uri, _meta }) => {
    const state = (_meta as Record<string, unknown> | undefined)?.['io.gatehouse/state'];
    return `${String(uri).replace('resource://s/', '')}${state === 'deleted' ? DELETED : ''}`;
  });
  client.delivered.length = 0;
  return taken.toSorted();
}

beforeEach(() => void recordLog());

describe.each(ENTRIES)('subscriptions to a server that %s', (_what, supportsSubscriptions, entry) => {
  beforeEach(() => open(supportsSubscriptions, { entries: { s: entry } }));

  it.each<[string, (enabled: boolean) => Promise<void>]>([
    ['by an administrator', enable],
    ['in the configuration file', (enabled) => harness.reload({ s: { ...entry, enabled } })],
  ])('report deletions once when it is disabled %s, and one update each when enabled', async (_how, set) => {
    for (const uri of ['x://a', 't://1', 'x://*']) await harness.subscribe(client, publicly(uri));
    for (let round = 0; round < 2; round++) {
      await set(false);
      await set(false);
      const covered = ['t://1', 'x://a', 'x://b'];
      expect(takeUpdates()).toEqual(covered.map((uri) => uri + DELETED));
      expect(harness.rows).toEqual(['a x://a', 'a t://1', 'a x://*']);
      expect(await harness.upstream()).toBe(0);
      await set(true);
      await harness.pass(1000);
      expect(takeUpdates()).toEqual(covered);
      expect([...server.held].toSorted()).toEqual(supportsSubscriptions ? covered : []);
    }
  });

  it('report a deletion when they are restored while it is disabled, and one update when it is enabled', async () => {
    await open(supportsSubscriptions, {
      entries: { s: { ...entry, enabled: false } },
      before: (fresh) => ['x://a', 't://1', 'x://*'].forEach((uri) => fresh.restore(client, 's', uri)),
    });
    expect([takeUpdates(), server.links]).toEqual([['t://1', 'x://a'].map((uri) => uri + DELETED), []]);
    await enable(true);
    await harness.pass(1000);
    expect(takeUpdates()).toEqual(['t://1', 'x://a', 'x://b']);
  });
});

describe('subscriptions to a disabled server', () => {
  beforeEach(() => open());

  it('are reported under the URI that the client knows', async () => {
    await open(true, { naming: { resources: 'underscore' } });
    await harness.subscribe(client, 'x://a');
    await enable(false);
    expect(takeUpdates()).toEqual(['s_x___a deleted']);
  });

  it('report a resource whose deletion was reported before only when it returns', async () => {
    await harness.subscribe(client, 'x://a');
    await harness.list(server, 'x://b');
    takeUpdates();
    await enable(false);
    expect(takeUpdates()).toEqual([]);
    server.resources = ['x://a'];
    await enable(true);
    expect(takeUpdates()).toEqual(['x://a']);
  });

  it('report a linked resource that is not listed', async () => {
    harness.registry.resourceUris.publicUrisFor('s', EVERYTHING)('z://linked');
    await harness.subscribe(client, publicly('z://linked'));
    await enable(false);
    expect(takeUpdates()).toEqual(['z://linked deleted']);
    await enable(true);
    expect(takeUpdates()).toEqual(['z://linked']);
  });

  it('drop updates of a link that stays open for a call in flight', async () => {
    await open(true, { entries: { s: { timeoutMs: 60_000, watch: { coalesceMs: 1000 } } } });
    await harness.subscribe(client, 'x://a');
    const caller = client.call();
    void harness.backends.get('s').call({ method: 'tools/call', params: '{}', caller });
    for (const uri of ['x://a', 'x://a', 'x://a/1', 'x://a/1']) server.update(uri);
    expect(takeUpdates()).toEqual(['x://a', 'x://a/1']);
    await enable(false);
    expect(takeUpdates()).toEqual(['x://a deleted']);
    const { link } = server;
    server.update('x://a');
    await harness.pass(5000);
    expect(takeUpdates()).toEqual([]);
    await enable(true);
    expect(takeUpdates()).toEqual(['x://a']);
    link.emit('notifications/resources/updated', { uri: 'x://a' });
    await harness.pass(5000);
    expect(takeUpdates()).toEqual([]);
    link.asked('tools/call').answer({});
  });

  it.each(['shared', 'session'])('are not polled over a %s link with a call in flight', async (isolation) => {
    await open(false, { entries: { s: { isolation, timeoutMs: 60_000, watch: { pollMs: 1000 } } } });
    await harness.subscribe(client, 'x://a');
    void harness.backends.get('s').call({ method: 'tools/call', params: '{}', caller: client.call() });
    await harness.pass(0);
    await enable(false);
    await harness.pass(1500);
    expect(server.readsOf('x://a')).toBe(1);
    server.link.asked('tools/call').answer({});
  });

  it('accept a repeated request, and end by unsubscribe', async () => {
    const { id } = await harness.subscribe(client, 'x://a');
    await enable(false);
    expect(await harness.subscribe(client, publicly('x://a'))).toMatchObject({ id });
    harness.unsubscribe(client, publicly('x://a'));
    expect(harness.rows).toEqual([]);
    await enable(true);
    expect([takeUpdates(), [...server.held]]).toEqual([['x://a deleted'], []]);
  });

  it.each([true, false])('end if it is removed while enabled: %s, and are not restored', async (enabled) => {
    for (const uri of ['x://a', 'x://*']) await harness.subscribe(client, publicly(uri));
    await enable(enabled);
    takeUpdates();
    await harness.remove('s');
    expect([harness.rows, client.hasNoListeners]).toEqual([[], true]);
    await harness.remove('s', false);
    await harness.pass(1000);
    server.update('x://a');
    expect([takeUpdates(), [...server.held]]).toEqual([[], []]);
    await harness.subscribe(client, publicly('x://a'));
    server.update('x://a');
    expect(takeUpdates()).toEqual(['x://a']);
  });

  it('end in slices when it is removed', async () => {
    for (const uri of ['x://a', 'x://b', 'y://c']) await harness.subscribe(client, uri);
    jest.spyOn(sliceScheduler, 'start').mockReturnValue(flushPromises);
    const removed = harness.remove('s');
    expect(harness.rows).toHaveLength(2);
    await removed;
    expect(harness.rows).toEqual([]);
  });

  it('report no further deletion after the server is enabled again', async () => {
    for (const uri of ['x://a', 'x://b', 'y://c']) await harness.subscribe(client, uri);
    jest.spyOn(sliceScheduler, 'start').mockReturnValue(flushPromises);
    const disabled = harness.enable('s', false);
    for (let turn = 0; turn < 10 && client.delivered.length === 0; turn++) await flushPromises();
    expect(takeUpdates()).toHaveLength(1);
    await harness.enable('s', true);
    await disabled;
    await harness.pass(1000);
    expect(takeUpdates()).toEqual(['x://a', 'x://b', 'y://c']);
  });
});
