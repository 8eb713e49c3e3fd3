import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import { GatewayProcesses } from '../kit/gateway-processes.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { RawSession } from '../kit/raw-session.js';
import { Scrape } from '../kit/scrape.js';
import { ScriptedServer } from '../kit/scripted-server/scripted-server.js';
import { connectV1, connectV2 } from '../kit/sdk-clients.js';
import { sendUpdate, startSubscribableServer, SubscribedClient } from '../kit/subscribed-client.js';
import { TcpProxy } from '../kit/tcp-proxy.js';
import { deferred, until, within } from '../kit/until.js';

const A = 'resource://docs/x://a';
const B = 'resource://docs/x://b';
const WAIT = { name: 's__wait', arguments: {} };

describe('an update that is written to a half-open connection', () => {
  let docs: ScriptedServer;
  let gateway: Gateway;
  let proxy: TcpProxy;

  beforeAll(async () => {
    docs = await startSubscribableServer('x://a', 'x://b');
    gateway = await startGateway({ mcpServers: { docs: docs.http }, admin: { token: ADMIN_TOKEN } });
    await gateway.listed({ resources: ['docs'] });
  });

  beforeEach(async () => {
    proxy = await TcpProxy.start(gateway.url);
  });

  const written = async (): Promise<number> =>
    new Scrape((await exchange(gateway.urlOf('/metrics'))).text).value('mcp_subscription_events_total', {
      outcome: 'written',
    })!;

  /** Loses one update of A on the connections through the proxy, while the gateway considers them open. */
  async function loseUpdate(): Promise<void> {
    proxy.loseData();
    const before = await written();
    sendUpdate(docs, 'x://a', { n: 1 });
    await until('the update is written', async () => (await written()) === before + 1);
    const { json } = await new AdminClient(gateway).get('subscriptions?uri=x%3A%2F%2Fa');
    expect(json['subscriptions']).toMatchObject([{ hasStream: true }]);
  }

  it.each([
    ['with Last-Event-ID, with its contents', true, [{ uri: A, n: 1 }]],
    ['without Last-Event-ID, as one update per subscription', false, [{ uri: A }, { uri: B }]],
  ])('is delivered after a reconnect %s', async (_how, resumes, expected) => {
    const session = await RawSession.open(gateway.url);
    const client = await SubscribedClient.onSession(session.at(proxy.url));
    for (const uri of [A, B]) await session.request('resources/subscribe', { uri });
    await until('the stream has an event id', () => client.events.all.length > 0);
    await loseUpdate();
    const again = await SubscribedClient.onSession(session, resumes ? client.events.lastId : undefined);
    await again.untilUpdated(expected.at(-1)!.uri);
    expect(again.updates).toEqual(expected);
    expect(client.updates).toEqual([]);
    await session.end();
  });

  it('reaches a client of the SDK, which reconnects when its end is broken', async () => {
    const updates: string[] = [];
    const client = await connectV1(proxy.url, {}, (one) =>
      one.setNotificationHandler(
        ResourceUpdatedNotificationSchema,
        ({ params }) => void updates.push(params.uri),
      ),
    );
    await client.subscribeResource({ uri: A });
    await until('the client has a stream', async () => {
      const { json } = await new AdminClient(gateway).get('subscriptions');
      return JSON.stringify(json['subscriptions']).includes('"hasStream":true');
    });
    await loseUpdate();
    expect(updates).toEqual([]);
    proxy.breakConnections();
    await until('the client has the update', () => updates.length > 0);
    expect(updates).toEqual([A]);
  });
});

describe('a call of an SDK client whose gateway is killed', () => {
  it.each<[string, (url: string, onprogress: () => void) => Promise<unknown>]>([
    ['1.x', async (url, onprogress) => (await connectV1(url)).callTool(WAIT, undefined, { onprogress })],
    ['2.x', async (url, onprogress) => (await connectV2(url)).callTool(WAIT, { onprogress })],
  ])(
    'gets an error when the client has reconnected, long before its timeout (SDK %s)',
    async (_sdk, call) => {
      const server = (await ScriptedServer.start()).tool('wait', (one) => one.progress(1));
      const processes = await GatewayProcesses.start({ mcpServers: { s: server.http } });
      await processes.gateway.listed({ tools: ['s'] });
      const proxy = await TcpProxy.start(processes.gateway.url);
      const progress = deferred();
      const outcome = call(proxy.url, () => progress.resolve()).catch((error: unknown) => error);
      await within('the progress', progress.promise);
      await processes.restart('SIGKILL');
      proxy.target = processes.gateway.url;
      expect(await within('the error', outcome, 20_000)).toMatchObject({ code: -31009 });
    },
    60_000,
  );
});
