import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { cuttable, type Cuttable } from '../kit/cuttable.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { everythingOverStdio, startEverything } from '../kit/real-servers.js';
import { connectV1, connectV2, type ClientV1, type ClientV2 } from '../kit/sdk-clients.js';
import { until } from '../kit/until.js';

const TRANSPORTS = ['stdio', 'http', 'sse'] as const;
/** The server tells of what it was asked for first, first: after the last, nothing is on its way. */
const DOCUMENTS = ['architecture.md', 'features.md', 'structure.md'];

/** A client of an SDK, and the URIs of the updates it got. */
interface Reader {
  readonly client: ClientV1 | ClientV2;
  readonly heard: string[];
}

async function readerV1(url: string): Promise<Reader> {
  const heard: string[] = [];
  const client = await connectV1(url, {}, (own) =>
    own.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void heard.push(params.uri),
    ),
  );
  return { client, heard };
}

async function readerV2(url: string): Promise<Reader> {
  const heard: string[] = [];
  const client = await connectV2(url, {}, (own) =>
    own.setNotificationHandler(
      'notifications/resources/updated',
      ({ params }) => void heard.push(params.uri),
    ),
  );
  return { client, heard };
}

const hears = ({ heard }: Reader, uri: string, times: number): Promise<unknown> =>
  until(`a client hears ${times} times of ${uri}`, () => heard.filter((one) => one === uri).length >= times);

describe('updates of a real server', () => {
  let gateway: Gateway;
  let way: Cuttable;

  beforeAll(async () => {
    const [http, sse] = await Promise.all([startEverything('streamableHttp'), startEverything('sse')]);
    way = await cuttable(http.url);
    gateway = await startGateway({
      mcpServers: {
        stdio: everythingOverStdio(),
        http: { url: way.url },
        sse: { url: sse.url, type: 'sse' },
      },
    });
    await gateway.listed({ tools: TRANSPORTS, resources: TRANSPORTS });
  }, 60_000);

  it.each(TRANSPORTS)(
    'over %s reach the clients of both SDKs that subscribed, and no others',
    async (server) => {
      const [one, other, last] = DOCUMENTS.map(
        (name) => `resource://${server}/demo://resource/static/document/${name}`,
      ) as [string, string, string];
      const { url } = gateway;
      const readers = await Promise.all([readerV1(url), readerV2(url), readerV1(url), readerV2(url)]);
      const [anna, ben, cleo, nobody] = readers;
      /** It sends an update of everything that is subscribed to when it is switched on. */
      const toggle = (): Promise<unknown> =>
        nobody.client.callTool({ name: `${server}__toggle-subscriber-updates`, arguments: {} });

      for (const { client } of [anna, ben]) await client.subscribeResource({ uri: one });
      await cleo.client.subscribeResource({ uri: other });
      for (const { client } of [anna, ben, cleo]) await client.subscribeResource({ uri: last });
      await toggle();
      for (const reader of [anna, ben, cleo]) await hears(reader, last, 1);
      expect(anna.heard).toEqual([one, last]);
      expect(ben.heard).toEqual([one, last]);
      expect(cleo.heard).toEqual([other, last]);

      await anna.client.unsubscribeResource({ uri: one });
      await toggle();
      await toggle();
      for (const reader of [anna, ben, cleo]) await hears(reader, last, 2);
      expect(anna.heard).toEqual([one, last, last]);
      expect(ben.heard).toEqual([one, last, one, last]);
      expect(nobody.heard).toEqual([]);
      await toggle();
    },
  );

  it('go on when the connections to it broke while its session lives, and one stands for all that was missed', async () => {
    const uri = `resource://http/demo://resource/static/document/${DOCUMENTS[0]!}`;
    const reader = await readerV1(gateway.url);
    const toggle = (): Promise<unknown> =>
      reader.client.callTool({ name: 'http__toggle-subscriber-updates', arguments: {} });
    await reader.client.subscribeResource({ uri });
    // It numbers what it says from here on.
    await toggle();
    await hears(reader, uri, 1);
    await toggle();
    way.cut();
    await hears(reader, uri, 2);
    await toggle();
    await hears(reader, uri, 3);
    await toggle();
    expect(reader.heard).toEqual([uri, uri, uri]);
  });
});
