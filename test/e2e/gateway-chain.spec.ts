import {
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
  type TextContent,
} from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { freePort } from '../kit/http.js';
import { LegacySdkServer } from '../kit/legacy-server/legacy-sdk-server.js';
import { ModernSdkServer } from '../kit/modern-server/modern-sdk-server.js';
import { buildServer } from '../kit/modern-server/offer.mjs';
import { connectModern, connectV1, type ClientV2 } from '../kit/sdk-clients.js';
import { until } from '../kit/until.js';

const SERVERS = ['old', 'new'] as const;
const CLIENTS = ['2025', '2026'] as const;
const ANSWER = { action: 'accept' as const, content: { name: 'Ada' } };
const CAPABILITIES = { elicitation: { form: {} } };
const uriOf = (server: string): string => `resource://inner/resource://${server}/test://doc`;
const URIS = SERVERS.map((server) => uriOf(server));
const textOf = (result: unknown): string => (result as { content: TextContent[] }).content[0]!.text;

describe('a gateway that is a server of another gateway', () => {
  let servers: { old: LegacySdkServer; new: ModernSdkServer };
  let inner: Gateway;
  let startInner: () => Promise<void>;
  let outer: Gateway;
  const updates: Record<string, string[]> = { 2025: [], 2026: [] };
  const clients: Record<string, Pick<ClientV2, 'callTool' | 'readResource'>> = {};

  beforeAll(async () => {
    servers = { old: await LegacySdkServer.start(), new: await ModernSdkServer.start(() => buildServer()) };
    const port = String(await freePort());
    startInner = async () => {
      inner = await startGateway(
        {
          http: { modern: true },
          mcpServers: { old: { url: servers.old.url }, new: { url: servers.new.url } },
        },
        { GATEHOUSE__HTTP__PORT: port },
      );
      await inner.listed({ tools: SERVERS, resources: SERVERS });
    };
    await startInner();
    outer = await startGateway({
      http: { modern: true },
      mcpServers: { inner: { url: inner.url } },
    });
    await outer.listed({ tools: ['inner'], resources: ['inner'] });
    const v1 = await connectV1(outer.url, CAPABILITIES, (own) => {
      own.setRequestHandler(ElicitRequestSchema, () => ANSWER);
      own.setNotificationHandler(
        ResourceUpdatedNotificationSchema,
        ({ params }) => void updates['2025']!.push(params.uri),
      );
    });
    for (const uri of URIS) await v1.subscribeResource({ uri });
    const modern = await connectModern(outer.url, CAPABILITIES, (own) => {
      own.setRequestHandler('elicitation/create', () => ANSWER);
      own.setNotificationHandler(
        'notifications/resources/updated',
        ({ params }) => void updates['2026']!.push(params.uri),
      );
    });
    await modern.listen({ resourceSubscriptions: URIS });
    Object.assign(clients, { 2025: v1, 2026: modern });
  });

  const rows = SERVERS.flatMap((server) => CLIENTS.map((era) => [server, era] as const));

  it.each(rows)(
    'serves calls, reads and questions of the server %s to a client of %s',
    async (server, era) => {
      const client = clients[era]!;
      const call = { name: `inner__${server}__echo`, arguments: { text: 'hi' } };
      expect(textOf(await client.callTool(call))).toBe('hi');
      const asked = await client.callTool({ name: `inner__${server}__ask`, arguments: {} });
      expect(textOf(asked)).toMatch(/^accept Ada/);
      const { contents } = await client.readResource({ uri: uriOf(server) });
      expect(contents).toMatchObject([{ uri: uriOf(server), text: 'first' }]);
    },
  );

  const counts = (server: string): number[] =>
    CLIENTS.map((era) => updates[era]!.filter((uri) => uri === uriOf(server)).length);
  const send = (server: string): void =>
    server === 'old' ? servers.old.sendUpdates() : servers.new.notify.resourceUpdated('test://doc');

  it.each(SERVERS)('passes each update of the server %s once', async (server) => {
    for (let update = 1; update <= 3; update++) {
      send(server);
      await until('each client has the update', () => counts(server).every((count) => count >= update));
    }
    expect(counts(server)).toEqual([3, 3]);
  });

  it('sends one update of each resource after a restart of the inner gateway, and later updates once', async () => {
    const before = SERVERS.map((server) => counts(server)[0]!);
    expect((await inner.stop()).code).toBe(0);
    await startInner();
    for (const [index, server] of SERVERS.entries()) {
      await until('one update for the gap', () => counts(server).every((n) => n >= before[index]! + 1));
      send(server);
      await until('the update', () => counts(server).every((n) => n >= before[index]! + 2));
      expect(counts(server)).toEqual([before[index]! + 2, before[index]! + 2]);
    }
  });
});
