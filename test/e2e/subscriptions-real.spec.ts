import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { everythingOverStdio, startEverything } from '../kit/real-servers.js';
import { connectV1, connectV2, type ClientV1, type ClientV2 } from '../kit/sdk-clients.js';
import { TcpProxy } from '../kit/tcp-proxy.js';
import { until } from '../kit/until.js';

const TRANSPORTS = ['stdio', 'http', 'sse'] as const;
/** The server sends updates in the order of the subscriptions: after the last one, all have arrived. */
const DOCUMENTS = ['architecture.md', 'features.md', 'structure.md'];

/** An SDK client and the URIs of its updates. */
interface Reader {
  readonly client: ClientV1 | ClientV2;
  readonly received: string[];
}

async function readerV1(url: string): Promise<Reader> {
  const received: string[] = [];
  const client = await connectV1(url, {}, (own) =>
    own.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void received.push(params.uri),
    ),
  );
  return { client, received };
}

async function readerV2(url: string): Promise<Reader> {
  const received: string[] = [];
  const client = await connectV2(url, {}, (own) =>
    own.setNotificationHandler(
      'notifications/resources/updated',
      ({ params }) => void received.push(params.uri),
    ),
  );
  return { client, received };
}

const untilUpdated = ({ received }: Reader, uri: string, times: number): Promise<unknown> =>
  until(
    `a client gets ${times} updates of ${uri}`,
    () => received.filter((one) => one === uri).length >= times,
  );

describe('updates of a real server', () => {
  let gateway: Gateway;
  let proxy: TcpProxy;

  beforeAll(async () => {
    const [http, sse] = await Promise.all([startEverything('streamableHttp'), startEverything('sse')]);
    proxy = await TcpProxy.start(http.url);
    gateway = await startGateway({
      mcpServers: {
        stdio: everythingOverStdio(),
        http: { url: proxy.url },
        // Without `type: sse`: the server refuses Streamable HTTP.
        sse: { url: sse.url },
      },
    });
    await gateway.listed({ tools: TRANSPORTS, resources: TRANSPORTS });
  });

  it.each(TRANSPORTS)('over %s reach exactly the subscribed clients of both SDKs', async (server) => {
    const [one, other, last] = DOCUMENTS.map(
      (name) => `resource://${server}/demo://resource/static/document/${name}`,
    ) as [string, string, string];
    const { url } = gateway;
    const readers = await Promise.all([readerV1(url), readerV2(url), readerV1(url), readerV2(url)]);
    const [anna, ben, cleo, unsubscribed] = readers;
    /** When switched on, the server sends an update for each of its subscriptions. */
    const toggle = (): Promise<unknown> =>
      unsubscribed.client.callTool({ name: `${server}__toggle-subscriber-updates`, arguments: {} });

    for (const { client } of [anna, ben]) await client.subscribeResource({ uri: one });
    await cleo.client.subscribeResource({ uri: other });
    for (const { client } of [anna, ben, cleo]) await client.subscribeResource({ uri: last });
    await toggle();
    for (const reader of [anna, ben, cleo]) await untilUpdated(reader, last, 1);
    expect(anna.received).toEqual([one, last]);
    expect(ben.received).toEqual([one, last]);
    expect(cleo.received).toEqual([other, last]);

    await anna.client.unsubscribeResource({ uri: one });
    await toggle();
    await toggle();
    for (const reader of [anna, ben, cleo]) await untilUpdated(reader, last, 2);
    expect(anna.received).toEqual([one, last, last]);
    expect(ben.received).toEqual([one, last, one, last]);
    expect(unsubscribed.received).toEqual([]);
    await toggle();
  });

  it('continue after its connections broke, with one update for all that were missed', async () => {
    const uri = `resource://http/demo://resource/static/document/${DOCUMENTS[0]!}`;
    const reader = await readerV1(gateway.url);
    const toggle = (): Promise<unknown> =>
      reader.client.callTool({ name: 'http__toggle-subscriber-updates', arguments: {} });
    await reader.client.subscribeResource({ uri });
    // From here on the server gives its events ids.
    await toggle();
    await untilUpdated(reader, uri, 1);
    await toggle();
    proxy.breakConnections();
    await untilUpdated(reader, uri, 2);
    await toggle();
    await untilUpdated(reader, uri, 3);
    await toggle();
    expect(reader.received).toEqual([uri, uri, uri]);
  });
});
