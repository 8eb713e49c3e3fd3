import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeSubscriber } from '../../test/kit/fake-client.js';
import { FakeServer } from '../../test/kit/fake-server.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { LINGER_MS, SubscriptionHarness } from '../../test/kit/subscription-harness.js';

const STAR = 'file:///a/*';
const B = 'file:///a/b';
const publicUri = (uri: string): string => `resource://files/${uri}`;

describe.each(['shared', 'session'])('a listed URI that ends in * (isolation: %s)', (isolation) => {
  let files: FakeServer;
  let harness: SubscriptionHarness;
  let client: FakeSubscriber;
  const options = { entries: { files: { isolation } } };

  beforeEach(async () => {
    recordLog();
    files = new FakeServer([STAR, B]);
    harness = await SubscriptionHarness.open({ files }, options);
    client = new FakeSubscriber('a');
  });

  const update = async (...uris: readonly string[]): Promise<void> => {
    for (const uri of uris) files.update(uri);
    await harness.pass(0);
  };

  it.each([STAR, publicUri(STAR), 'files_file___a_'])(
    'is subscribed to as one resource by %s',
    async (text) => {
      await harness.subscribe(client, text);
      await update(B, STAR);
      expect(client.uris).toEqual([publicUri(STAR)]);
      expect(files.subscriptionRequests).toEqual([`+${STAR}`]);
      harness.unsubscribe(client, text);
      await harness.pass(LINGER_MS);
      expect([harness.rows, files.subscriptionRequests]).toEqual([[], [`+${STAR}`, `-${STAR}`]]);
    },
  );

  it('is removed and returns like any other resource', async () => {
    await harness.subscribe(client, STAR);
    for (const resources of [[B], [B, STAR]]) {
      files.resources = resources;
      // The first link is the shared one.
      files.links[0]!.emit('notifications/resources/list_changed');
      await harness.pass(1500);
    }
    expect(client.updates).toMatchObject([{ _meta: { 'io.gatehouse/state': 'deleted' } }, {}]);
    expect(client.uris).toEqual([publicUri(STAR), publicUri(STAR)]);
  });

  it('stays a resource after a restart of the gateway and a reconnect of the server', async () => {
    await harness.close();
    const row = { id: 'r', server: 'files', uri: STAR, isExact: true as const, since: 0 };
    const before = (fresh: SubscriptionHarness): void => void fresh.restorer.restore(client, row);
    harness = await SubscriptionHarness.open({ files }, { ...options, before });
    await update(B, STAR);
    expect(client.uris).toEqual([publicUri(STAR), publicUri(STAR)]);
    expect(await harness.subscribe(client, STAR)).toMatchObject({ id: 'r' });
    await harness.reconnect(files);
    expect([...files.held]).toEqual([STAR]);
  });
});

describe('a pattern', () => {
  let files: FakeServer;
  let harness: SubscriptionHarness;
  const [patterned, exact] = [new FakeSubscriber('patterned'), new FakeSubscriber('exact')];

  beforeEach(async () => {
    recordLog();
    files = new FakeServer([B]);
    harness = await SubscriptionHarness.open({ files });
    await harness.subscribe(patterned, STAR);
    await harness.list(files, B, STAR);
    patterned.delivered.length = 0;
  });

  it('stays a pattern for its client when a resource is listed under its text, but not for others', async () => {
    await harness.subscribe(exact, STAR);
    await harness.subscribe(patterned, STAR);
    expect(harness.rows).toEqual([`patterned ${STAR}`, `exact ${STAR}`]);
    for (const uri of [B, STAR]) files.update(uri);
    await harness.pass(0);
    expect(patterned.uris).toEqual([B, STAR].map(publicUri));
    expect(exact.uris).toEqual([publicUri(STAR)]);
    harness.unsubscribe(patterned, STAR);
    await harness.pass(LINGER_MS);
    expect([harness.rows, [...files.held]]).toEqual([[`exact ${STAR}`], [STAR]]);
  });

  it('stays a pattern if a record of an earlier version does not say more', async () => {
    const client = new FakeSubscriber('restored');
    harness.restore(client, 'files', STAR);
    await harness.pass(0);
    client.delivered.length = 0;
    files.update(B);
    await harness.pass(0);
    expect(client.uris).toEqual([publicUri(B)]);
  });
});

describe('a listed URI with braces', () => {
  it.each([
    [[], ['x://{id}']],
    [['x://{id}'], ['x://1', 'x://{id}']],
  ])('is a resource unless it is a template too: %j', async (templates, expected) => {
    recordLog();
    const server = new FakeServer(['x://{id}', 'x://1']);
    server.templates = templates;
    const harness = await SubscriptionHarness.open({ server });
    const client = new FakeSubscriber('a');
    await harness.subscribe(client, 'resource://server/x://{id}');
    for (const uri of ['x://1', 'x://{id}']) server.update(uri);
    await harness.pass(0);
    expect(client.uris).toEqual(expected.map((uri) => `resource://server/${uri}`));
  });
});
