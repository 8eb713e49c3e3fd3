import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeSubscriber } from '../../test/kit/fake-client.js';
import { refusalOf } from '../../test/kit/promises.js';
import { FakeServer } from '../../test/kit/fake-server.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { only } from '../../test/kit/offers.js';
import { SubscriptionHarness, type HarnessOptions } from '../../test/kit/subscription-harness.js';

describe.each([
  ['supports subscriptions', true, {}],
  ['does not support subscriptions', false, {}],
  ['is polled', false, { watch: { pollMs: 1000 } }],
  ['has session links and does not support subscriptions', false, { isolation: 'session' }],
  ['has session links and supports subscriptions', true, { isolation: 'session' }],
] as const)('restored subscriptions to a server that %s', (_what, supportsSubscriptions, entry) => {
  let server: FakeServer;
  let client: FakeSubscriber;

  async function open(uris: readonly string[], more: HarnessOptions = {}): Promise<void> {
    client = new FakeSubscriber('a');
    const harness = await SubscriptionHarness.open(
      { s: server },
      {
        entries: { s: entry },
        before: (fresh) => uris.forEach((uri) => fresh.restore(client, 's', uri)),
        ...more,
      },
    );
    await harness.pass(0);
  }

  beforeEach(() => {
    recordLog();
    server = new FakeServer(['x://a', 'x://b'], supportsSubscriptions);
    server.templates = ['t://{id}'];
  });

  it('send one update of each resource', async () => {
    await open(['x://a', 't://1']);
    expect(client.uris.toSorted()).toEqual(['resource://s/t://1', 'resource://s/x://a']);
  });

  it('send one update of each match of a pattern, including one that is also subscribed to by URI', async () => {
    await open(['x://*', 'x://b']);
    expect(client.uris.toSorted()).toEqual(['resource://s/x://a', 'resource://s/x://b']);
  });

  it.each([
    ['original', ['t://1', 'x://a']],
    ['underscore', ['s_t___1', 's_x___a']],
  ] as const)('send one update in the form of the lists, in style %s', async (resources, expected) => {
    await open(['x://a', 't://1'], { naming: { resources } });
    expect(client.uris.toSorted()).toEqual(expected);
  });
});

describe('restored subscriptions', () => {
  it('are subscribed at a server whose link is already open', async () => {
    recordLog();
    const server = new FakeServer(['x://a']);
    const client = new FakeSubscriber('a');
    const harness = await SubscriptionHarness.open({ s: server });
    harness.restore(client, 's', 'x://a');
    await harness.pass(0);
    expect([...server.held]).toEqual(['x://a']);
    expect(client.uris).toEqual(['resource://s/x://a']);
  });

  it('send an update of a resource that a server without subscriptions lists later', async () => {
    recordLog();
    const server = new FakeServer(['x://a'], false);
    const client = new FakeSubscriber('a');
    const harness = await SubscriptionHarness.open(
      { s: server },
      { before: (fresh) => fresh.restore(client, 's', 'x://late') },
    );
    expect(client.uris).toEqual(['resource://s/x://late']);
    await harness.list(server, 'x://a', 'x://late');
    expect(client.uris).toEqual(['resource://s/x://late', 'resource://s/x://late']);
  });

  it.each(['x://a', 'resource://s/x://a', 's_x___a'])(
    'accept a repeated request for %s, and no other, before the server is connected',
    async (form) => {
      recordLog();
      const server = new FakeServer(['x://a', 'x://b']);
      server.isReachable = false;
      const client = new FakeSubscriber('a');
      const harness = await SubscriptionHarness.open(
        { s: server },
        { before: (fresh) => fresh.restore(client, 's', 'x://a') },
      );
      expect(await harness.subscribe(client, form)).toMatchObject({ id: 's x://a' });
      expect(await refusalOf(harness.subscribe(client, 'resource://s/x://b'))).toMatchObject({
        kind: 'server-unavailable',
      });
      expect(await refusalOf(harness.subscribe(client, 'x://b'))).toMatchObject({
        kind: 'nothing-to-subscribe',
      });
      client.setScope(only('other'));
      expect(await refusalOf(harness.subscribe(client, form))).toMatchObject({
        kind: 'nothing-to-subscribe',
      });
    },
  );
});
