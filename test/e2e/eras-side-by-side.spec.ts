import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
  type TextContent,
} from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { LegacySdkServer } from '../kit/legacy-server/legacy-sdk-server.js';
import { ModernSdkServer } from '../kit/modern-server/modern-sdk-server.js';
import { buildServer, createState } from '../kit/modern-server/offer.mjs';
import { connectModern, connectV1, connectV2, type ClientV2 } from '../kit/sdk-clients.js';
import { tempDir } from '../kit/temp-dir.js';
import { until } from '../kit/until.js';

const CLIENTS = ['v1', 'legacy', 'auto', 'pinned'] as const;
const SERVERS = ['http1', 'both', 'modern', 'stdio1', 'stdio2'] as const;
type ClientId = (typeof CLIENTS)[number];
type ServerId = (typeof SERVERS)[number];

const OWN_URI = 'test://doc';
const uriOf = (server: ServerId): string => `resource://${server}/${OWN_URI}`;
const DOCS = SERVERS.map((server) => uriOf(server));
const textOf = (result: unknown): string => (result as { content: TextContent[] }).content[0]!.text;
const ANSWER = { action: 'accept' as const, content: { name: 'Ada' } };

/** A client that answers elicitation and is subscribed to the resource of every server. */
interface Subscribed {
  readonly client: Pick<ClientV2, 'listTools' | 'listResources' | 'readResource' | 'callTool'>;
  /** The URIs of its updates. */
  readonly updates: string[];
}

const CAPABILITIES = { elicitation: { form: {} } };

async function subscribedV1(url: string): Promise<Subscribed> {
  const updates: string[] = [];
  const client = await connectV1(url, CAPABILITIES, (own) => {
    own.setRequestHandler(ElicitRequestSchema, () => ANSWER);
    own.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void updates.push(params.uri),
    );
  });
  for (const uri of DOCS) await client.subscribeResource({ uri });
  return { client: client as unknown as Subscribed['client'], updates };
}

async function subscribedV2(url: string, mode: 'legacy' | 'auto' | 'pinned'): Promise<Subscribed> {
  const updates: string[] = [];
  const prepare = (own: ClientV2): void => {
    own.setRequestHandler('elicitation/create', () => ANSWER);
    own.setNotificationHandler(
      'notifications/resources/updated',
      ({ params }) => void updates.push(params.uri),
    );
  };
  if (mode === 'legacy') {
    const client = await connectV2(url, CAPABILITIES, prepare);
    for (const uri of DOCS) await client.subscribeResource({ uri });
    return { client, updates };
  }
  const client = await connectModern(url, CAPABILITIES, prepare, {}, mode === 'auto' ? 'auto' : 'pin');
  const { honoredFilter } = await client.listen({ resourceSubscriptions: DOCS });
  expect(honoredFilter.resourceSubscriptions).toEqual(DOCS);
  return { client, updates };
}

const switchedStdio = (file: string): object => ({
  command: process.execPath,
  args: [resolve('test/kit/switched-stdio.mjs'), 'reject', file],
});

/** A version of a server over HTTP. */
interface Running {
  sendUpdate(): void;
  stop(): Promise<void>;
}
type Version = 'sdk1' | 'both' | 'modern';

async function startVersion(version: Version, port?: number): Promise<Running & { readonly port: number }> {
  if (version === 'sdk1') {
    const server = await LegacySdkServer.start(port);
    return { port: server.port, sendUpdate: () => server.sendUpdates(), stop: () => server.stop() };
  }
  const state = createState();
  const server = await ModernSdkServer.start(() => buildServer(state), {
    legacy: version === 'both' ? 'stateless' : 'reject',
    ...(port !== undefined && { port }),
  });
  return {
    port: server.port,
    sendUpdate: () => server.notify.resourceUpdated(OWN_URI),
    stop: () => server.stop(),
  };
}

describe('clients of SDK 1.x and 2.x side by side, in front of servers of both', () => {
  const running = new Map<ServerId, Running & { readonly port: number }>();
  let eraFiles: Record<'stdio1' | 'stdio2', string>;
  let gateway: Gateway;
  let admin: AdminClient;
  let clients: Record<ClientId, Subscribed>;

  beforeAll(async () => {
    const dir = tempDir();
    eraFiles = { stdio1: join(dir, 'stdio1'), stdio2: join(dir, 'stdio2') };
    writeFileSync(eraFiles.stdio1, '2025');
    writeFileSync(eraFiles.stdio2, '2026');
    running.set('http1', await startVersion('sdk1'));
    running.set('both', await startVersion('both'));
    running.set('modern', await startVersion('modern'));
    const http = (server: ServerId): object => ({ url: `http://127.0.0.1:${running.get(server)!.port}/mcp` });
    gateway = await startGateway({
      http: { modern: true },
      admin: { token: ADMIN_TOKEN },
      mcpServers: {
        http1: http('http1'),
        both: http('both'),
        modern: http('modern'),
        stdio1: switchedStdio(eraFiles.stdio1),
        stdio2: switchedStdio(eraFiles.stdio2),
      },
    });
    await gateway.listed({ tools: SERVERS, resources: SERVERS });
    admin = new AdminClient(gateway);
    clients = {
      v1: await subscribedV1(gateway.url),
      legacy: await subscribedV2(gateway.url, 'legacy'),
      auto: await subscribedV2(gateway.url, 'auto'),
      pinned: await subscribedV2(gateway.url, 'pinned'),
    };
  });

  const eraOf = async (server: ServerId): Promise<unknown> =>
    (await admin.get(`servers/${server}`)).json['era'];

  /** How many updates of the resource each client has got. */
  const counts = (server: ServerId): number[] =>
    CLIENTS.map((id) => clients[id].updates.filter((uri) => uri === uriOf(server)).length);

  async function sendUpdate(server: ServerId): Promise<void> {
    const http = running.get(server);
    if (http) http.sendUpdate();
    else await clients.v1.client.callTool({ name: `${server}__edit`, arguments: { text: 'edited' } });
  }

  const untilCounts = (server: ServerId, count: number): Promise<unknown> =>
    until(`each client has ${count} updates of ${server}: ${counts(server).join()}`, () =>
      counts(server).every((own) => own >= count),
    );

  /** Sends updates one after the other. Returns how many each client got. */
  async function sendUpdates(server: ServerId, updates: number): Promise<number[]> {
    const before = counts(server);
    for (let update = 1; update <= updates; update++) {
      await sendUpdate(server);
      await untilCounts(server, before[0]! + update);
    }
    return counts(server).map((count, index) => count - before[index]!);
  }

  /** What each client lists. */
  const lists = (): Promise<{ tools: string[]; resources: string[] }[]> =>
    Promise.all(
      CLIENTS.map(async (id) => {
        const { tools } = await clients[id].client.listTools();
        const { resources } = await clients[id].client.listResources();
        return { tools: tools.map(({ name }) => name), resources: resources.map(({ uri }) => uri) };
      }),
    );

  /** What the client gets of an echo, of the resource, and of a tool that asks it. */
  async function served(id: ClientId, server: ServerId): Promise<string[]> {
    const { client } = clients[id];
    const echo = await client.callTool({ name: `${server}__echo`, arguments: { text: id } });
    const { contents } = await client.readResource({ uri: uriOf(server) });
    const asked = await client.callTool({ name: `${server}__ask`, arguments: {} });
    return [textOf(echo), contents[0]!.uri, textOf(asked).slice(0, 10)];
  }
  const allOf = (id: ClientId, server: ServerId): string[] => [id, uriOf(server), 'accept Ada'];

  it('see the same tools and resources', async () => {
    const [first, ...others] = await lists();
    for (const own of others) expect(own).toEqual(first);
    expect(first!.resources.toSorted()).toEqual(DOCS.toSorted());
    for (const server of SERVERS) expect(first!.tools).toContain(`${server}__ask`);
  });

  it.each(CLIENTS)('call, read and answer questions at every server (%s)', async (id) => {
    for (const server of SERVERS) expect(await served(id, server)).toEqual(allOf(id, server));
  });

  it.each(SERVERS)('get each update of %s exactly once', async (server) => {
    expect(await sendUpdates(server, 3)).toEqual([3, 3, 3, 3]);
  });

  describe('when a server is killed and begins again in the other era', () => {
    /** Returns how many updates of each server each client got while this one was replaced. */
    async function replace(server: ServerId, era: string, by: () => Promise<void>): Promise<number[][]> {
      const before = SERVERS.map((id) => counts(id));
      await by();
      await until(`${server} is served in ${era}`, async () => (await eraOf(server)) === era);
      await untilCounts(server, before[SERVERS.indexOf(server)]![0]! + 1);
      for (const id of CLIENTS) expect(await served(id, server)).toEqual(allOf(id, server));
      expect(await sendUpdates(server, 3)).toEqual([3, 3, 3, 3]);
      const [first, ...others] = await lists();
      for (const own of others) expect(own).toEqual(first);
      return SERVERS.map((id, index) => counts(id).map((count, client) => count - before[index]![client]!));
    }
    /** One update for the time without the server, and the three that it sends. */
    const onlyOf = (server: ServerId): number[][] =>
      SERVERS.map((id) => CLIENTS.map(() => (id === server ? 4 : 0)));

    it.each<[ServerId, Version, string]>([
      ['http1', 'modern', '2026'],
      ['http1', 'sdk1', '2025'],
      ['both', 'sdk1', '2025'],
      ['modern', 'sdk1', '2025'],
      ['modern', 'both', '2026'],
    ])('are served alike: %s, replaced by %s', async (server, version, era) => {
      const got = await replace(server, era, async () => {
        const replaced = running.get(server)!;
        await replaced.stop();
        running.set(server, await startVersion(version, replaced.port));
      });
      expect(got).toEqual(onlyOf(server));
    });

    it.each<['stdio1' | 'stdio2', string]>([
      ['stdio1', '2026'],
      ['stdio2', '2025'],
    ])('are served alike: %s, in %s', async (server, era) => {
      const got = await replace(server, era, async () => {
        const { client } = clients.pinned;
        const pid = Number(textOf(await client.callTool({ name: `${server}__pid`, arguments: {} })));
        writeFileSync(eraFiles[server], era);
        process.kill(pid, 'SIGKILL');
      });
      expect(got).toEqual(onlyOf(server));
    });
  });
});
