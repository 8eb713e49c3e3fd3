import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeSubscriber } from '../../test/kit/fake-client.js';
import { outcomeOf, refusalOf, flushPromises } from '../../test/kit/promises.js';
import { FakeServer } from '../../test/kit/fake-server.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { only } from '../../test/kit/offers.js';
import { LINGER_MS, SubscriptionHarness } from '../../test/kit/subscription-harness.js';
import { GatewayError } from '../core/errors.js';

const A = 'file:///a';
const PUBLIC_A = 'resource://files/file:///a';

const errorOf = async (subscribed: Promise<unknown>): Promise<object> => {
  const { kind, message, data } = (await refusalOf(subscribed)) as GatewayError;
  return { kind, message, data };
};

describe('Subscriptions', () => {
  let files: FakeServer;
  let harness: SubscriptionHarness;
  let client: FakeSubscriber;
  let lines: string[];

  beforeEach(async () => {
    lines = recordLog();
    files = new FakeServer([A, 'file:///b', 'file:///dir/c']);
    files.templates = ['note://{id}'];
    harness = await SubscriptionHarness.open({ files });
    client = new FakeSubscriber('a');
  });

  const rejections = async (reason: string): Promise<number | undefined> =>
    (await harness.scrape()).value('gatehouse_subscription_rejections_total', { reason });

  describe('subscribe', () => {
    it('sends one request to the server for many clients and repeated requests', async () => {
      const others = Array.from({ length: 20 }, (_, i) => new FakeSubscriber(`${i}`));
      await Promise.all(others.map((other) => harness.subscribe(other, PUBLIC_A)));
      for (const other of others) await harness.subscribe(other, A);
      expect(files.subscriptionRequests).toEqual([`+${A}`]);
      expect(harness.subscribers.table.size).toBe(20);
    });

    it('returns the same id for a repeated request', async () => {
      const first = await harness.subscribe(client, PUBLIC_A);
      for (const form of [A, PUBLIC_A, 'files_file___a'])
        expect((await harness.subscribe(client, form)).id).toBe(first.id);
      expect(harness.subscribers.table.size).toBe(1);
    });

    it('sends one request to the server when a client repeats a pending request', async () => {
      files.replyToSubscribe = () => 'waits';
      const both = [A, PUBLIC_A].map((form) => outcomeOf(harness.subscribe(client, form)));
      await flushPromises();
      expect(both).toEqual([{}, {}]);
      files.accept(A);
      await harness.pass(0);
      expect(both[0]!.value!.id).toBe(both[1]!.value!.id);
      expect(files.subscriptionRequests).toEqual([`+${A}`]);
    });

    it.each<[string, string]>([
      ['is unknown', 'file:///nope'],
      ['is unknown in the public form', 'resource://files/file:///nope'],
      ['names an unknown server', 'resource://nope/file:///a'],
      ['is empty', ''],
    ])('refuses a URI that %s, without a request to a server', async (_what, uri) => {
      expect(await errorOf(harness.subscribe(client, uri))).toEqual({
        kind: 'nothing-to-subscribe',
        message: `RESOURCE_NOT_FOUND: resource ${uri} is not available`,
        data: { uri },
      });
      expect([harness.rows, files.subscriptionRequests]).toEqual([[], []]);
      expect(await rejections('unknown')).toBe(1);
    });

    it('refuses a URI out of scope or of a disabled server like an unknown one', async () => {
      const unknown = await errorOf(harness.subscribe(client, 'resource://nope/file:///a'));
      client.setScope(only('other'));
      const outOfScope = await errorOf(harness.subscribe(client, PUBLIC_A));
      await harness.enable('files', false);
      const disabled = await errorOf(harness.subscribe(new FakeSubscriber('b'), PUBLIC_A));
      for (const refused of [outOfScope, disabled])
        expect(JSON.stringify(refused)).toBe(JSON.stringify(unknown).replaceAll('nope', 'files'));
    });

    it('fails with the refusal of the server and keeps no row', async () => {
      files.replyToSubscribe = () => 'refuses';
      expect(await errorOf(harness.subscribe(client, PUBLIC_A))).toEqual({
        kind: 'subscription-failed',
        message: 'SUBSCRIPTION_FAILED: server files refused the subscription: not this one',
        data: { code: 'SUBSCRIPTION_FAILED', server: 'files' },
      });
      await harness.pass(LINGER_MS);
      expect([harness.rows, files.subscriptionRequests, client.hasNoListeners]).toEqual([
        [],
        [`+${A}`],
        true,
      ]);
      expect(await rejections('failed')).toBe(1);
      expect(lines.join()).toContain('"message":"subscription failed"');
      files.replyToSubscribe = () => 'takes';
      await harness.subscribe(client, PUBLIC_A);
      expect(harness.rows).toEqual([`a ${A}`]);
    });

    it('fails for all waiting clients when the server refuses', async () => {
      files.replyToSubscribe = () => 'waits';
      const outcomes = ['a', 'b', 'c'].map((id) => outcomeOf(harness.subscribe(new FakeSubscriber(id), A)));
      await flushPromises();
      files.refuse(A);
      await harness.pass(LINGER_MS);
      expect(outcomes.map(({ error }) => (error as GatewayError).kind)).toEqual(
        Array(3).fill('subscription-failed'),
      );
      expect([harness.rows, files.subscriptionRequests]).toEqual([[], [`+${A}`]]);
    });

    it('fails on a timeout, and unsubscribes in case the server has subscribed', async () => {
      files.replyToSubscribe = () => 'waits';
      const outcome = outcomeOf(harness.subscribe(client, A));
      await flushPromises();
      files.pendingSubscribe(A).fail(new GatewayError('timeout', 'TIMEOUT: late'));
      await harness.pass(0);
      expect(outcome.error).toMatchObject({ kind: 'timeout', message: 'TIMEOUT: late' });
      expect(harness.rows).toEqual([]);
      await harness.pass(LINGER_MS);
      expect(files.subscriptionRequests).toEqual([`+${A}`, `-${A}`]);
    });

    it('fails at once and keeps no row while the server is not connected', async () => {
      files.isReachable = false;
      files.link.disconnect();
      await harness.pass(0);
      expect(await errorOf(harness.subscribe(client, A))).toMatchObject({
        kind: 'server-unavailable',
        data: { code: 'SERVER_UNAVAILABLE', server: 'files' },
      });
      expect([harness.rows, client.hasNoListeners]).toEqual([[], true]);
      expect(await rejections('unavailable')).toBe(1);
    });

    it('fails and keeps no row when the link is lost before the response', async () => {
      files.replyToSubscribe = () => 'waits';
      const outcome = outcomeOf(harness.subscribe(client, A));
      await flushPromises();
      await harness.reconnect(files);
      expect(outcome.error).toMatchObject({ kind: 'server-unavailable' });
      expect([harness.rows, files.subscriptionRequests]).toEqual([[], [`+${A}`]]);
    });

    it('keeps no row of a closed client', async () => {
      client.close();
      expect(await errorOf(harness.subscribe(client, A))).toMatchObject({ kind: 'cancelled' });
      await harness.pass(LINGER_MS);
      expect([harness.rows, files.subscriptionRequests]).toEqual([[], []]);
      files.link.disconnect();
      files.isReachable = false;
      await harness.pass(0);
      expect(await errorOf(harness.subscribe(client, A))).toMatchObject({ kind: 'cancelled' });
      expect(harness.rows).toEqual([]);
    });

    it('unsubscribes when the client closes before the response', async () => {
      files.replyToSubscribe = () => 'waits';
      const outcome = outcomeOf(harness.subscribe(client, A));
      await flushPromises();
      client.close();
      files.accept(A);
      await harness.pass(LINGER_MS);
      expect(outcome.error).toMatchObject({ kind: 'cancelled' });
      expect([harness.rows, files.subscriptionRequests, [...files.held]]).toEqual([
        [],
        [`+${A}`, `-${A}`],
        [],
      ]);
    });
  });

  describe('an update before the acknowledgement', () => {
    it('is delivered after the acknowledgement', async () => {
      files.replyToSubscribe = () => 'waits';
      let acknowledged = false;
      const subscribed = harness.subscriptions.subscribe(client.context, A).then(() => {
        acknowledged = true;
        expect(client.delivered).toEqual([]);
      });
      await flushPromises();
      files.update(A, { version: 1 });
      files.update(A, { version: 2 });
      files.accept(A);
      await subscribed;
      await harness.acknowledged();
      expect(acknowledged).toBe(true);
      expect(client.updates).toEqual([{ uri: PUBLIC_A, version: 2 }]);
    });

    it('has an event id above those that were sent to the client before', async () => {
      const early = new FakeSubscriber('b');
      await harness.subscribe(early, A);
      const other = harness.subscriptions.subscribe(client.context, 'file:///b');
      await other;
      files.replyToSubscribe = () => 'waits';
      files.resources.push('file:///dir');
      await harness.list(files, ...files.resources);
      const pending = harness.subscriptions.subscribe(client.context, 'file:///dir');
      await flushPromises();
      // The event of another subscriber takes its id first.
      const eager = new FakeSubscriber('c');
      files.replyToSubscribe = () => 'takes';
      await harness.subscribe(eager, 'resource://files/file:///dir/*');
      files.update('file:///dir/c');
      files.update('file:///b');
      files.accept('file:///dir');
      await pending;
      await harness.acknowledged();
      expect(client.uris).toEqual(['resource://files/file:///b', 'resource://files/file:///dir/c']);
      const numbers = client.delivered.map(({ frame }) => frame.sequence);
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    });

    it('is dropped when the server refuses', async () => {
      files.replyToSubscribe = () => 'waits';
      const outcome = outcomeOf(harness.subscribe(client, A));
      await flushPromises();
      files.update(A);
      files.refuse(A);
      await harness.pass(0);
      expect(outcome.error).toMatchObject({ kind: 'subscription-failed' });
      expect(client.delivered).toEqual([]);
    });

    it('is delivered at once to other subscribers', async () => {
      const early = new FakeSubscriber('b');
      await harness.subscribe(early, A);
      files.update(A);
      await harness.subscriptions.subscribe(client.context, A);
      files.update(A);
      expect([early.delivered.length, client.delivered.length]).toEqual([2, 0]);
      await harness.acknowledged();
      expect(client.delivered).toHaveLength(1);
    });
  });

  describe('unsubscribe', () => {
    it.each([
      ['the public URI', PUBLIC_A],
      ["the server's own URI", A],
      ['the underscore form', 'files_file___a'],
    ])('accepts %s', async (_form, text) => {
      await harness.subscribe(client, PUBLIC_A);
      harness.unsubscribe(client, text);
      expect([harness.rows, client.hasNoListeners]).toEqual([[], true]);
      await harness.pass(LINGER_MS);
      expect(files.subscriptionRequests).toEqual([`+${A}`, `-${A}`]);
    });

    it('accepts the id of an own subscription only', async () => {
      const { id } = await harness.subscribe(client, A);
      harness.unsubscribe(new FakeSubscriber('b'), id);
      expect(harness.rows).toEqual([`a ${A}`]);
      harness.unsubscribe(client, id);
      expect(harness.rows).toEqual([]);
    });

    it.each(['note://{id}', 'resource://files/note://{id}', 'files_note___{id}'])(
      'accepts a template in the form %s',
      async (form) => {
        await harness.subscribe(client, 'note://{id}');
        harness.unsubscribe(client, form);
        expect(harness.rows).toEqual([]);
      },
    );

    it('accepts every form of a resource that is no longer listed', async () => {
      for (const form of [A, PUBLIC_A, 'files_file___a']) {
        await harness.list(files, A);
        await harness.subscribe(client, A);
        await harness.list(files);
        expect(harness.rows).toEqual([`a ${A}`]);
        harness.unsubscribe(client, form);
        expect(harness.rows).toEqual([]);
      }
    });

    it('accepts the distinct ids of two resources with the same underscore form', async () => {
      await harness.list(files, 'x://a/b', 'x://a?b');
      const [first, second] = await Promise.all(
        ['x://a/b', 'x://a?b'].map((uri) => harness.subscribe(client, uri)),
      );
      const shared = harness.registry.catalog.servers[0]!.listing.resources.byUri.map(({ id }) => id);
      for (const id of shared) expect(id).toMatch(/^files_x___a_b~[0-9a-f]{8}$/);
      harness.unsubscribe(client, shared[1]!);
      expect([...harness.subscribers.table]).toEqual([first]);
      expect(second!.uri).toBe('x://a?b');
    });

    it('does not end a subscription whose own URI is the public URI of another resource', async () => {
      const chained = new FakeServer([A]);
      harness = await SubscriptionHarness.open({ files, chained });
      await harness.list(chained, PUBLIC_A);
      const row = await harness.subscribe(client, `resource://chained/${PUBLIC_A}`);
      harness.unsubscribe(client, PUBLIC_A);
      expect([...harness.subscribers.table]).toEqual([row]);
      await harness.list(files);
      harness.unsubscribe(client, PUBLIC_A);
      expect(harness.rows).toEqual([]);
    });

    it('ignores a URI without a subscription', async () => {
      for (const text of [A, 'file:///nope', 'resource://nope/x', 'no-such-id', ''])
        harness.unsubscribe(client, text);
      expect(files.subscriptionRequests).toEqual([]);
    });

    it('unsubscribes at the server after the linger of the last subscriber', async () => {
      const [first, second] = [new FakeSubscriber('b'), new FakeSubscriber('c')];
      for (const one of [first, second]) await harness.subscribe(one, A);
      harness.unsubscribe(first, A);
      await harness.pass(LINGER_MS * 2);
      expect(files.subscriptionRequests).toEqual([`+${A}`]);
      harness.unsubscribe(second, A);
      await harness.pass(LINGER_MS - 1);
      await harness.subscribe(first, A);
      await harness.pass(LINGER_MS * 2);
      expect(files.subscriptionRequests).toEqual([`+${A}`]);
      harness.unsubscribe(first, A);
      await harness.pass(LINGER_MS);
      expect(files.subscriptionRequests).toEqual([`+${A}`, `-${A}`]);
    });
  });

  it('end by id, once', async () => {
    const { id } = await harness.subscribe(client, A);
    expect([1, 2].map(() => harness.subscriptions.end(id, 'unsubscribed'))).toEqual([true, false]);
    expect(harness.rows).toEqual([]);
  });

  it('end when the client closes, and unsubscribe URIs without other subscribers', async () => {
    const other = new FakeSubscriber('b');
    for (const uri of [A, 'file:///b']) await harness.subscribe(client, uri);
    await harness.subscribe(other, A);
    client.close();
    await harness.pass(LINGER_MS);
    expect(harness.rows).toEqual([`b ${A}`]);
    expect(files.subscriptionRequests).toEqual([`+${A}`, '+file:///b', '-file:///b']);
  });

  it('of two servers with one own URI end by it if the client has one of them, and neither if it has both', async () => {
    harness = await SubscriptionHarness.open({ files, git: new FakeServer([A]) });
    await harness.subscribe(client, `resource://git/${A}`);
    harness.unsubscribe(client, A);
    expect(harness.rows).toEqual([]);
    for (const server of ['files', 'git']) await harness.subscribe(client, `resource://${server}/${A}`);
    harness.unsubscribe(client, A);
    expect(harness.rows).toEqual([`a ${A}`, `a ${A}`]);
  });

  it('end when the client loses access to the server', async () => {
    await harness.subscribe(client, A);
    client.setScope(only('other'));
    files.update(A);
    await harness.pass(LINGER_MS);
    expect([harness.rows, client.delivered, files.subscriptionRequests]).toEqual([
      [],
      [],
      [`+${A}`, `-${A}`],
    ]);
  });

  it('are counted in the metrics', async () => {
    await harness.subscribe(client, A);
    await harness.subscribe(new FakeSubscriber('b'), A);
    await harness.subscribe(client, 'file:///b');
    const scrape = await harness.scrape();
    expect(scrape.value('mcp_active_subscriptions')).toBe(3);
    expect(scrape.value('gatehouse_upstream_subscriptions')).toBe(2);
    expect(scrape.value('gatehouse_subscriptions_without_stream')).toBe(0);
    client.hasStream = false;
    expect((await harness.scrape()).value('gatehouse_subscriptions_without_stream')).toBe(2);
    client.close();
    harness.unsubscribe(client, A);
    expect((await harness.scrape()).value('mcp_active_subscriptions')).toBe(1);
  });

  it('are logged at debug level', async () => {
    const { id } = await harness.subscribe(client, A);
    harness.unsubscribe(client, A);
    const logged = lines.map((line) => JSON.parse(line) as object);
    for (const message of ['subscribed', 'subscription ended'])
      expect(logged).toContainEqual(
        expect.objectContaining({ level: 'debug', message, subscription: id, server: 'files', uri: A }),
      );
  });
});
