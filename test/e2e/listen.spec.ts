import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import { launch } from '../kit/command-line.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { ListenClient, postCancelled, SUBSCRIPTION_ID } from '../kit/listen-client.js';
import { Scrape } from '../kit/scrape.js';
import type { ScriptedServer } from '../kit/scripted-server/scripted-server.js';
import { connectModern } from '../kit/sdk-clients.js';
import {
  sendUpdate,
  startSubscribableServer,
  SubscribedClient,
  subscriptionRequests,
  untilRequested,
} from '../kit/subscribed-client.js';
import { until } from '../kit/until.js';

const A = 'resource://docs/x://a';
const B = 'resource://docs/x://b';
const ALL_LISTS = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

const runCli = async (gateway: Gateway, ...args: string[]): Promise<string> =>
  (await launch(args, { GATEHOUSE_URL: gateway.urlOf('/'), GATEHOUSE_ADMIN_TOKEN: ADMIN_TOKEN }).done).stdout;

const scrape = async (gateway: Gateway): Promise<Scrape> =>
  new Scrape((await exchange(gateway.urlOf('/metrics'))).text);

describe('subscriptions/listen', () => {
  let gateway: Gateway;
  let admin: AdminClient;
  let docs: ScriptedServer;

  beforeAll(async () => {
    gateway = await startGateway({
      admin: { token: ADMIN_TOKEN, allowStdio: true },
      limits: { subscriptionsPerClient: 3, streamsPerPrincipal: 20 },
    });
    admin = new AdminClient(gateway);
  });

  /** Replaces the server of the previous test. */
  async function open(...uris: string[]): Promise<void> {
    await admin.delete('servers/docs');
    docs = await startSubscribableServer(...uris);
    expect((await admin.put('servers/docs', docs.http)).status).toBe(201);
    await gateway.listed({ resources: ['docs'] });
  }

  it('acknowledges first, with what is honoured and the id of the request', async () => {
    await open('x://a');
    const filter = { ...ALL_LISTS, resourceSubscriptions: [A, 'x://a', 'x://none', 'resource://none/x'] };
    for (const id of ['listen:0', 7]) {
      const { events } = await ListenClient.open(gateway.url, filter, { id });
      expect(events.all.map((event) => event.id)).toEqual([undefined]);
      expect(events.messages).toEqual([
        {
          jsonrpc: '2.0',
          method: 'notifications/subscriptions/acknowledged',
          params: {
            _meta: { [SUBSCRIPTION_ID]: id },
            notifications: { ...ALL_LISTS, resourceSubscriptions: [A, 'x://a'] },
          },
        },
      ]);
    }
    expect(subscriptionRequests(docs)).toEqual(['+x://a']);
  });

  it('honours nothing but what was asked for', async () => {
    await open('x://a');
    const empty = await ListenClient.open(gateway.url, {});
    expect(empty.honoured).toEqual({});
    const one = await ListenClient.open(gateway.url, {
      toolsListChanged: true,
      promptsListChanged: false,
      unknown: true,
      resourceSubscriptions: [],
    });
    expect(one.honoured).toEqual({ toolsListChanged: true, resourceSubscriptions: [] });
  });

  it.each([
    ['that is absent', undefined],
    ['that is a text', 'all'],
    ['that is a list', []],
    ['with a flag that is no boolean', { toolsListChanged: 1 }],
    ['with a URI that is no list', { resourceSubscriptions: 'x' }],
    ['with a URI that is no text', { resourceSubscriptions: [1] }],
    ['with a URI that is too long', { resourceSubscriptions: ['x'.repeat(1_000_000)] }],
  ])('refuses a filter %s', async (_what, filter) => {
    expect(await ListenClient.refused(gateway.url, filter)).toMatchObject({
      status: 200,
      error: { code: -32602 },
    });
  });

  it('sends each update once, with the id of its request, beside sessions of 2025', async () => {
    await open('x://a', 'x://b');
    const session = await SubscribedClient.of(gateway.url, A);
    const one = await ListenClient.open(gateway.url, { resourceSubscriptions: [A, 'x://*'] }, { id: 'one' });
    const two = await ListenClient.open(gateway.url, { resourceSubscriptions: [B] }, { id: 2 });
    sendUpdate(docs, 'x://a', { n: 1, _meta: { note: 'kept' } });
    sendUpdate(docs, 'x://b', { n: 2 });
    await Promise.all([one.untilUpdated(B), two.untilUpdated(B), session.untilUpdated(A)]);
    expect(one.updates).toEqual([
      { uri: A, n: 1, _meta: { note: 'kept' } },
      { uri: B, n: 2 },
    ]);
    expect(one.events.messages.at(-1)!.params!['_meta']).toEqual({ [SUBSCRIPTION_ID]: 'one' });
    expect(two.updates).toEqual([{ uri: B, n: 2 }]);
    expect(two.events.messages.at(-1)!.params!['_meta']).toEqual({ [SUBSCRIPTION_ID]: 2 });
    expect(session.updates).toEqual([{ uri: A, n: 1, _meta: { note: 'kept' } }]);
    expect(subscriptionRequests(docs).toSorted()).toEqual(['+x://a', '+x://b']);
  });

  it('does not send an update before the acknowledgement', async () => {
    await open('x://a');
    docs.on('resources/subscribe', () => {
      sendUpdate(docs, 'x://a', { n: 1 });
      return {};
    });
    const client = await ListenClient.to(gateway.url, A);
    await client.untilUpdated(A);
    expect(client.methods).toEqual([
      'notifications/subscriptions/acknowledged',
      'notifications/resources/updated',
    ]);
  });

  it('leaves out what the server refuses', async () => {
    await open('x://a', 'x://b');
    docs.on('resources/subscribe', ({ params }) => {
      if (params['uri'] === 'x://b') throw new Error('not this one');
      return {};
    });
    const client = await ListenClient.to(gateway.url, A, B);
    expect(client.honoured).toEqual({ resourceSubscriptions: [A] });
  });

  it('unsubscribes when the client closes the stream, and answers its notice with 202', async () => {
    await open('x://a');
    const client = await ListenClient.to(gateway.url, A);
    const active = async (): Promise<unknown> => (await scrape(gateway)).value('mcp_active_subscriptions');
    expect(await active()).toBe(1);
    client.close();
    await until('the subscription has ended', async () => (await active()) === 0);
    await untilRequested(docs, '-x://a');
    expect(await postCancelled(gateway.url, 1)).toMatchObject({ status: 202, text: '' });
  });

  it('ignores the notice of a client that does not close its stream', async () => {
    await open('x://a');
    const client = await ListenClient.to(gateway.url, A);
    expect((await postCancelled(gateway.url, 1)).status).toBe(202);
    sendUpdate(docs, 'x://a');
    await client.untilUpdated(A);
  });

  describe('list changes', () => {
    it('are sent to streams that asked for them', async () => {
      await open('x://a');
      const tools = await ListenClient.open(gateway.url, { toolsListChanged: true });
      const resources = await ListenClient.open(gateway.url, { resourcesListChanged: true }, { id: 'r' });
      const none = await ListenClient.to(gateway.url, A);
      docs.resource('x://c');
      docs.broadcast('notifications/resources/list_changed');
      const changed = await resources.events.message(
        'the change',
        ({ method }) => method?.includes('list') ?? false,
      );
      expect(changed).toEqual({
        jsonrpc: '2.0',
        method: 'notifications/resources/list_changed',
        params: { _meta: { [SUBSCRIPTION_ID]: 'r' } },
      });
      docs.tool('added', () => ({ content: [] }));
      docs.broadcast('notifications/tools/list_changed');
      await until('the change of tools', () => tools.methods.length === 2);
      expect(tools.methods[1]).toBe('notifications/tools/list_changed');
      sendUpdate(docs, 'x://a');
      await none.untilUpdated(A);
      expect(none.methods).toHaveLength(2);
      expect(resources.methods).toHaveLength(2);
    });
  });

  describe('limits', () => {
    it('refuse a stream with too many subscriptions as JSON, and keep none of them', async () => {
      await open('x://1', 'x://2', 'x://3', 'x://4');
      const uris = ['x://1', 'x://2', 'x://3', 'x://4'];
      expect(await ListenClient.refused(gateway.url, { resourceSubscriptions: uris })).toMatchObject({
        status: 200,
        id: 1,
        error: { code: -31029, data: { code: 'LimitExceeded', limit: 3 } },
      });
      const after = await scrape(gateway);
      expect(after.value('mcp_active_subscriptions')).toBe(0);
      expect(subscriptionRequests(docs)).toEqual([]);
      const client = await ListenClient.to(gateway.url, ...uris.slice(1), 'x://none');
      expect(client.honoured).toEqual({ resourceSubscriptions: uris.slice(1) });
    });

    it('count all streams of a principal', async () => {
      await open('x://a');
      const session = await SubscribedClient.open(gateway.url);
      const streams: ListenClient[] = [];
      const isRefused = { status: 200, error: { code: -31029, data: { code: 'LimitExceeded', limit: 20 } } };
      await until('the streams of earlier tests are closed', async () => {
        return (await scrape(gateway)).value('mcp_listens_active') === 0;
      });
      for (let n = 0; n < 19; n++) streams.push(await ListenClient.open(gateway.url, {}));
      expect(await ListenClient.refused(gateway.url, {})).toMatchObject(isRefused);
      streams[0]!.close();
      await until('there is room again', () =>
        ListenClient.open(gateway.url, {}).then(
          () => true,
          () => false,
        ),
      );
      session.events.disconnect();
      for (const stream of streams) stream.close();
    });
  });

  it('is shown to administrators', async () => {
    await open('x://a');
    const client = await ListenClient.open(gateway.url, { ...ALL_LISTS, resourceSubscriptions: [A] });
    const { sessions } = (await admin.get('sessions')).json as { sessions: Record<string, unknown>[] };
    const shown = sessions.find(({ subscriptions }) => subscriptions === 1)!;
    expect(shown).toMatchObject({
      kind: 'listen',
      era: '2026',
      client: { name: 'raw', version: '2' },
      principal: 'anonymous',
      streams: 1,
      listChanges: ['tools', 'prompts', 'resources'],
    });
    const { subscriptions } = (await admin.get('subscriptions')).json as { subscriptions: object[] };
    expect(subscriptions).toMatchObject([
      { client: shown['id'], clientName: 'raw', uri: A, hasStream: true },
    ]);
    const shownByCli = await runCli(gateway, 'sessions', 'show', String(shown['id']));
    expect(shownByCli).toMatch(/protocol +2026-07-28 \(era 2026\)/);
    expect(shownByCli).toMatch(/listens to +changes of tools, prompts, resources/);
    expect((await admin.delete(`sessions/${String(shown['id'])}`)).status).toBe(204);
    await client.events.untilEnded();
    expect(client.events.messages.at(-1)).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: 1 } },
    });
  });

  it('works with the client of the SDK', async () => {
    await open('x://a');
    const updated: unknown[] = [];
    const changed: string[] = [];
    const client = await connectModern(gateway.url, {}, (sdk) => {
      sdk.setNotificationHandler(
        'notifications/resources/updated',
        ({ params }) => void updated.push(params.uri),
      );
      sdk.setNotificationHandler('notifications/tools/list_changed', () => void changed.push('tools'));
    });
    const subscription = await client.listen({
      toolsListChanged: true,
      resourceSubscriptions: [A, 'x://none'],
    });
    expect(subscription.honoredFilter).toEqual({ toolsListChanged: true, resourceSubscriptions: [A] });
    sendUpdate(docs, 'x://a');
    docs.tool('another', () => ({ content: [] }));
    docs.broadcast('notifications/tools/list_changed');
    await until('the client got both', () => updated.length > 0 && changed.length > 0);
    expect([updated, changed]).toEqual([[A], ['tools']]);
    await subscription.close();
    expect(await subscription.closed).toBe('local');
    await untilRequested(docs, '-x://a');
    await expect(
      client.listen({ resourceSubscriptions: ['x://a', 'x://b', 'x://c', 'x://d'] }),
    ).resolves.toMatchObject({ honoredFilter: { resourceSubscriptions: ['x://a'] } });
  });
});
