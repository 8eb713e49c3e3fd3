import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { RawSession } from '../kit/raw-session.js';
import { ScriptedServer, ScriptedError } from '../kit/scripted-server/scripted-server.js';
import { contents } from '../kit/scripted-server/scripted-resources.js';
import { Scrape } from '../kit/scrape.js';
import {
  untilRequested,
  SubscribedClient,
  startSubscribableServer,
  subscriptionRequests,
  sendUpdate,
} from '../kit/subscribed-client.js';
import { until } from '../kit/until.js';

const A = 'resource://docs/x://a';
const SCHEMES = [
  'file:///documents/report.txt',
  'http://example.com/page',
  'https://example.com/page?q=1#top',
  'custom+scheme:opaque',
  'urn:isbn:0451450523',
  'x://ü/日本',
];

/** The updates of a client without those that `drainUpdates` causes. */
const otherUpdates = ({ updates }: SubscribedClient): Record<string, unknown>[] =>
  updates.filter(({ uri }) => !String(uri).endsWith('x://end'));

describe('subscriptions', () => {
  let docs: ScriptedServer;
  let other: ScriptedServer;
  let plain: ScriptedServer;
  let polled: ScriptedServer;
  let gateway: Gateway;
  let polledText = 'one';

  beforeAll(async () => {
    docs = await startSubscribableServer('x://a', 'x://b', 'x://c', 'x://dir', 'x://end', ...SCHEMES);
    docs.template('x://t/{id}').resource('x://refused').resource('x://mute').resource('x://nameless');
    docs.on('resources/subscribe', ({ params }) => {
      if (params['uri'] === 'x://refused')
        throw new ScriptedError('{"code":-32055,"message":"nicht für dich","data":{"why":1}}');
      if (params['uri'] === 'x://nameless') throw new ScriptedError('{"code":-1,"message":""}');
      return params['uri'] === 'x://mute' ? undefined : {};
    });
    other = await startSubscribableServer('x://a', 'x://end');
    plain = (await ScriptedServer.start()).resource('x://a');
    polled = (await ScriptedServer.start()).resource('x://a', () => contents('x://a', polledText));
    gateway = await startGateway({
      mcpServers: {
        docs: { ...docs.http, timeoutMs: 1000 },
        other: other.stdio(),
        plain: plain.http,
        polled: { ...polled.http, watch: { pollMs: 100 } },
      },
      projects: { one: { servers: ['docs', 'plain'] }, two: { servers: ['other'] } },
      log: { level: 'debug' },
    });
    await gateway.listed({ resources: ['docs', 'other', 'plain', 'polled'], resourceTemplates: ['docs'] });
  });

  /** Updates of a server arrive in order: when the update of `x://end` arrives, all earlier ones have arrived. */
  async function drainUpdates(...listeners: readonly SubscribedClient[]): Promise<void> {
    for (const [server, scripted] of [
      ['docs', docs],
      ['other', other],
    ] as const) {
      const uri = `resource://${server}/x://end`;
      for (const listener of listeners) await listener.subscribed(uri);
      const before = listeners.map(({ uris }) => uris.filter((one) => one === uri).length);
      sendUpdate(scripted, 'x://end');
      await Promise.all(listeners.map((listener, index) => listener.untilUpdated(uri, before[index]! + 1)));
    }
  }
  const scrape = async (): Promise<Scrape> => new Scrape((await exchange(gateway.urlOf('/metrics'))).text);

  /** Unsubscribe requests are left out: those of an earlier test may arrive late. */
  const requests = (): number[] =>
    [docs, other, plain].map(
      (server) => server.countOf('resources/subscribe') + server.countOf('resources/read'),
    );

  it('are advertised with the subscribe and listChanged capabilities', async () => {
    const { initializeResult } = await RawSession.open(gateway.url);
    expect(initializeResult).toMatchObject({
      capabilities: { resources: { subscribe: true, listChanged: true } },
    });
  });

  it('are answered with an empty result, and with an id on request', async () => {
    const client = await SubscribedClient.open(gateway.url);
    const key = 'io.gatehouse/subscription';
    for (const meta of [undefined, {}, { [key]: false }, { [key]: 'true' }])
      expect((await client.subscribe('resource://docs/x://c', meta)).result).toEqual({});
    const { result } = await client.subscribe('resource://docs/x://c', { [key]: true });
    expect(result).toEqual({ _meta: { [key]: expect.stringMatching(/^[\w-]{12}$/) } });
    expect((await client.subscribe('x://c', { [key]: true })).result).toEqual(result);
  });

  it('are requested at the server by its own URI, once for several clients', async () => {
    const [one, two] = await Promise.all(
      [1, 2].map(() => SubscribedClient.of(gateway.url, 'resource://docs/x://b')),
    );
    await two!.subscribed('docs_x___b');
    await one!.subscribed('x://b');
    expect(subscriptionRequests(docs).filter((request) => request.endsWith('x://b'))).toEqual(['+x://b']);
    await one!.unsubscribe('x://b');
    await two!.session.end();
    await untilRequested(docs, '-x://b');
    expect(subscriptionRequests(docs).filter((request) => request.endsWith('x://b'))).toEqual([
      '+x://b',
      '-x://b',
    ]);
  });

  it('deliver updates to exactly their clients, with the public URI and all fields of the server', async () => {
    const [one, two, another, unsubscribed] = await Promise.all([
      SubscribedClient.of(gateway.url, A),
      SubscribedClient.of(gateway.url, A),
      SubscribedClient.of(gateway.url, 'resource://docs/x://c', 'resource://other/x://a'),
      SubscribedClient.open(gateway.url),
    ]);
    const more = { metadata: { version: 2, size: 1024 }, _meta: { 'x/y': [1, null] }, ünknown: '☃' };
    sendUpdate(docs, 'x://a', more);
    await drainUpdates(one, two, another, unsubscribed);
    for (const listener of [one, two]) expect(otherUpdates(listener)).toEqual([{ uri: A, ...more }]);
    expect(otherUpdates(another)).toEqual([]);
    expect(otherUpdates(unsubscribed)).toEqual([]);
  });

  it('deliver updates byte for byte except for the URI', async () => {
    const listener = await SubscribedClient.of(gateway.url, A);
    docs.link.send(
      '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{ "n":1.0,"uri" : "x:\\/\\/a","big":12345678901234567890}}',
    );
    await listener.untilUpdated(A);
    expect(listener.events.all.at(-1)!.data).toBe(
      `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{ "n":1.0,"uri" : "${A}","big":12345678901234567890}}`,
    );
  });

  it('deliver updates of sub-resources of their URI', async () => {
    const listener = await SubscribedClient.of(gateway.url, 'resource://docs/x://dir');
    for (const uri of ['x://dir/file', 'x://dir#part', 'x://directory']) sendUpdate(docs, uri);
    await drainUpdates(listener);
    expect(otherUpdates(listener)).toEqual([
      { uri: 'resource://docs/x://dir/file' },
      { uri: 'resource://docs/x://dir#part' },
    ]);
  });

  it.each(SCHEMES)('accept a URI of any scheme: %s', async (uri) => {
    const listener = await SubscribedClient.of(gateway.url, `resource://docs/${uri}`);
    sendUpdate(docs, uri);
    await listener.untilUpdated(`resource://docs/${uri}`);
    expect(subscriptionRequests(docs)).toContain(`+${uri}`);
  });

  it('accept an unlisted URI that matches a template', async () => {
    const listener = await SubscribedClient.of(gateway.url, 'resource://docs/x://t/7');
    sendUpdate(docs, 'x://t/7');
    sendUpdate(docs, 'x://t/8');
    await drainUpdates(listener);
    expect(otherUpdates(listener)).toEqual([{ uri: 'resource://docs/x://t/7' }]);
  });

  it.each(['resource://docs/x://t/{id}', 'x://t/{id}', 'docs_x___t_{id}'])(
    'accept a template and deliver updates of all URIs that match it (%s)',
    async (uri) => {
      const listener = await SubscribedClient.of(gateway.url, uri);
      for (const own of ['x://t/1', 'x://t/2', 'x://u/1']) sendUpdate(docs, own);
      await drainUpdates(listener);
      expect(otherUpdates(listener).map((params) => params['uri'])).toEqual([
        'resource://docs/x://t/1',
        'resource://docs/x://t/2',
      ]);
    },
  );

  it('accept a prefix and subscribe at the server to each listed URI with that prefix', async () => {
    const listener = await SubscribedClient.of(gateway.url, 'resource://other/x://*');
    expect(subscriptionRequests(other)).toEqual(expect.arrayContaining(['+x://a', '+x://end']));
    const before = subscriptionRequests(other).length;
    sendUpdate(other, 'x://a');
    sendUpdate(docs, 'x://a');
    await listener.untilUpdated('resource://other/x://a');
    await listener.session.end();
    await until('both are unsubscribed', () => subscriptionRequests(other).length === before + 2);
    expect(subscriptionRequests(other).slice(before).toSorted()).toEqual(['-x://a', '-x://end']);
  });

  describe('end when a client unsubscribes', () => {
    it.each([
      ['by the public URI', () => ({ uri: A })],
      ["by the server's own URI", () => ({ uri: 'x://a' })],
      ['by the identifier', () => ({ uri: 'docs_x___a' })],
      ['by the id of the subscription', (id: string) => ({ subscriptionId: id })],
      ['by the id of the subscription as URI', (id: string) => ({ uri: id })],
      ['by the URI together with an unknown id', () => ({ subscriptionId: 'nope', uri: A })],
    ])('%s, and only for that client', async (_case, paramsOf) => {
      const path = gateway.urlOf('/projects/one/mcp');
      const [leaving, staying] = [await SubscribedClient.open(path), await SubscribedClient.of(path, A)];
      const id = await leaving.subscribed(A);
      const before = subscriptionRequests(docs).filter((request) => request === '-x://a').length;
      expect((await leaving.session.request('resources/unsubscribe', paramsOf(id))).result).toEqual({});
      sendUpdate(docs, 'x://a');
      await staying.untilUpdated(A);
      const twice = await leaving.session.request('resources/unsubscribe', paramsOf(id));
      expect(twice.result).toEqual({});
      expect(leaving.updates).toEqual([]);
      await staying.unsubscribe(A);
      await untilRequested(docs, '-x://a', before + 1);
    });

    it('and the response is success also without a subscription', async () => {
      const { session } = await SubscribedClient.open(gateway.url);
      for (const uri of [A, 'x://nope', '', 'resource://nope/x'])
        expect((await session.request('resources/unsubscribe', { uri })).result).toEqual({});
    });

    it.each([[{}], [{ uri: 7 }], [{ uri: null }], [{ subscriptionId: 7 }]])(
      'but not with the params %j',
      async (params) => {
        const { session } = await SubscribedClient.open(gateway.url);
        const { error } = await session.request('resources/unsubscribe', params);
        expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('uri') });
      },
    );
  });

  describe('are refused', () => {
    it.each([[{}], [{ uri: 7 }], [{ uri: null }], [{ uri: ['x://a'] }], [{ uri: { a: 1 } }]])(
      'with the params %j',
      async (params) => {
        const { session } = await SubscribedClient.open(gateway.url);
        const { error } = await session.request('resources/subscribe', params);
        expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('uri') });
      },
    );

    it.each([
      'resource://docs/x://nope',
      'x://nope',
      'resource://nope/x://a',
      'x://*',
      '',
      'not a uri at all',
    ])('for the unknown URI %j with that URI, and no server gets a request', async (uri) => {
      const listener = await SubscribedClient.open(gateway.url);
      const before = requests();
      expect((await listener.subscribe(uri)).error).toEqual({
        code: -32602,
        message: `RESOURCE_NOT_FOUND: resource ${uri} is not available`,
        data: { uri },
      });
      expect(requests()).toEqual(before);
      expect(listener.updates).toEqual([]);
    });

    it('for a resource outside the project with the same error as for an unknown one', async () => {
      const session = await RawSession.open(gateway.urlOf('/projects/two/mcp'));
      const refusalOf = async (uri: string): Promise<string> =>
        (await session.request('resources/subscribe', { uri }, 'r')).text;
      const unknown = await refusalOf('resource://nope/x://a');
      const before = requests();
      expect(await refusalOf(A)).toBe(unknown.replaceAll('nope', 'docs'));
      expect(await refusalOf('x://b')).toBe(unknown.replaceAll('resource://nope/x://a', 'x://b'));
      expect(await refusalOf('resource://docs/*')).toBe(unknown.replaceAll('nope/x://a', 'docs/*'));
      expect(requests()).toEqual(before);
    });

    it('when the server refuses, with its message, and leave no subscription', async () => {
      const listener = await SubscribedClient.open(gateway.url);
      expect((await listener.subscribe('resource://docs/x://refused')).error).toEqual({
        code: -31006,
        message: 'SUBSCRIPTION_FAILED: server docs refused the subscription: nicht für dich',
        data: { code: 'SUBSCRIPTION_FAILED', server: 'docs' },
      });
      sendUpdate(docs, 'x://refused');
      await drainUpdates(listener);
      expect(otherUpdates(listener)).toEqual([]);
      await gateway.logged({ message: 'subscription failed', server: 'docs', uri: 'x://refused' });
    });

    it('when the server refuses without a reason', async () => {
      const listener = await SubscribedClient.open(gateway.url);
      expect((await listener.subscribe('resource://docs/x://nameless')).error).toMatchObject({
        code: -31006,
        data: { code: 'SUBSCRIPTION_FAILED', server: 'docs' },
      });
    });

    it('when the server does not answer in time, and are then unsubscribed there', async () => {
      const listener = await SubscribedClient.open(gateway.url);
      expect((await listener.subscribe('resource://docs/x://mute')).error).toMatchObject({
        code: -31008,
        message: expect.stringContaining('docs'),
      });
      await untilRequested(docs, '-x://mute');
      sendUpdate(docs, 'x://mute');
      await drainUpdates(listener);
      expect(otherUpdates(listener)).toEqual([]);
    });
  });

  it('to a server without the capability send it no request, and its updates are delivered', async () => {
    const [one, unsubscribed] = [
      await SubscribedClient.of(gateway.url, 'resource://plain/x://a'),
      await SubscribedClient.open(gateway.url),
    ];
    sendUpdate(plain, 'x://a', { version: 1 });
    await one.untilUpdated('resource://plain/x://a');
    expect(one.updates).toEqual([{ uri: 'resource://plain/x://a', version: 1 }]);
    await one.unsubscribe('resource://plain/x://a');
    expect(unsubscribed.updates).toEqual([]);
    expect(subscriptionRequests(plain)).toEqual([]);
  });

  it('with watch.pollMs poll a resource once for all clients and send an update when it changed', async () => {
    const uri = 'resource://polled/x://a';
    const startedAt = performance.now();
    const listeners = await Promise.all([1, 2, 3].map(() => SubscribedClient.of(gateway.url, uri)));
    await until('the resource was polled again', () => polled.countOf('resources/read') >= 3);
    for (const listener of listeners) expect(listener.updates).toEqual([]);
    polledText = 'two';
    await Promise.all(listeners.map((listener) => listener.untilUpdated(uri)));
    const polls = polled.countOf('resources/read');
    await until('the resource was polled again', () => polled.countOf('resources/read') >= polls + 2);
    for (const listener of listeners) expect(listener.updates).toEqual([{ uri }]);
    // The interval between two polls is at least 80 ms.
    expect(polled.countOf('resources/read')).toBeLessThanOrEqual(1 + (performance.now() - startedAt) / 80);
    expect(subscriptionRequests(polled)).toEqual([]);
  });

  it('of one project deliver no update of the servers of another project', async () => {
    const [one, two, all] = await Promise.all([
      SubscribedClient.of(gateway.urlOf('/projects/one/mcp'), A),
      SubscribedClient.of(gateway.urlOf('/projects/two/mcp'), 'x://a'),
      SubscribedClient.of(gateway.url, A, 'resource://other/x://a'),
    ]);
    sendUpdate(docs, 'x://a', { canary: 'docs' });
    sendUpdate(other, 'x://a', { canary: 'other' });
    await drainUpdates(all);
    await one.untilUpdated(A);
    await two.untilUpdated('resource://other/x://a');
    expect(one.updates).toEqual([{ uri: A, canary: 'docs' }]);
    expect(two.updates).toEqual([{ uri: 'resource://other/x://a', canary: 'other' }]);
    expect(otherUpdates(all)).toHaveLength(2);
  });

  it('are counted in metrics without labels for clients or URIs', async () => {
    const listener = await SubscribedClient.open(gateway.url);
    const before = await scrape();
    await listener.subscribed('resource://docs/x://c');
    await listener.subscribed('resource://docs/x://dir');
    await listener.subscribe('resource://docs/x://nope');
    await listener.subscribe('resource://docs/x://refused');
    sendUpdate(docs, 'x://c');
    sendUpdate(docs, 'x://unsubscribed');
    await drainUpdates(listener);
    const after = await scrape();
    const grown = (name: string, labels: Record<string, string> = {}): number =>
      after.value(name, labels)! - before.value(name, labels)!;
    // These two, and the two that `drainUpdates` makes.
    expect(grown('mcp_active_subscriptions')).toBe(4);
    expect(grown('gatehouse_subscription_rejections_total', { reason: 'unknown' })).toBe(1);
    expect(grown('gatehouse_subscription_rejections_total', { reason: 'failed' })).toBe(1);
    expect(grown('gatehouse_subscription_rejections_total', { reason: 'limit' })).toBe(0);
    expect(grown('mcp_subscription_events_total', { outcome: 'unheard' })).toBe(1);
    expect(grown('mcp_subscription_events_total', { outcome: 'written' })).toBe(3);
    expect(after.value('gatehouse_upstream_subscriptions')).toBeGreaterThanOrEqual(4);
    expect(
      grown('mcp_notifications_total', { kind: 'resources/updated', outcome: 'written' }),
    ).toBeGreaterThan(2);
    for (const name of ['mcp_active_subscriptions', 'gatehouse_upstream_subscriptions'])
      expect(after.seriesOf(name)).toEqual([{}]);
  });

  it('are logged at level debug when they begin and end', async () => {
    const listener = await SubscribedClient.open(gateway.url);
    const subscription = await listener.subscribed('resource://docs/x://b');
    await listener.unsubscribe('x://b');
    for (const message of ['subscribed', 'subscription ended'])
      expect(await gateway.logged({ message, subscription })).toMatchObject({
        level: 'debug',
        server: 'docs',
        uri: 'x://b',
      });
  });
});
