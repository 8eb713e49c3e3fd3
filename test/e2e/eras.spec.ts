import { resolve } from 'node:path';
import {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
  type TextContent,
} from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import { launch } from '../kit/command-line.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { LegacySdkServer } from '../kit/legacy-server/legacy-sdk-server.js';
import { exchange } from '../kit/http.js';
import { ModernSdkServer } from '../kit/modern-server/modern-sdk-server.js';
import { buildServer, createState } from '../kit/modern-server/offer.mjs';
import { refusalOf } from '../kit/promises.js';
import { startEverything } from '../kit/real-servers.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { connectModern, connectV1, type ClientV1 } from '../kit/sdk-clients.js';
import { Scrape } from '../kit/scrape.js';
import { until } from '../kit/until.js';

/** Servers of the SDK of the 2026 era: as it serves by default, only in 2026, and only in 2026 over stdio. */
const SERVERS = ['both', 'modern', 'stdio'] as const;
const STDIO = { command: process.execPath, args: [resolve('test/kit/modern-server/stdio.mjs'), 'reject'] };

const textOf = (result: unknown): string => (result as { content: TextContent[] }).content[0]!.text;

describe('a client of the 2025 era and servers of the 2026 era', () => {
  const states = { both: createState(), modern: createState() };
  let servers: Record<'both' | 'modern', ModernSdkServer>;
  let gateway: Gateway;
  let admin: AdminClient;
  let client: ClientV1;
  const updates: string[] = [];
  const updateMetas: unknown[] = [];
  const logged: unknown[] = [];
  let listChanges = 0;

  beforeAll(async () => {
    servers = {
      both: await ModernSdkServer.start(() => buildServer(states.both), { legacy: 'stateless' }),
      modern: await ModernSdkServer.start(() => buildServer(states.modern)),
    };
    gateway = await startGateway({
      admin: { token: ADMIN_TOKEN },
      mcpServers: {
        both: { url: servers.both.url },
        modern: { url: servers.modern.url },
        stdio: STDIO,
      },
    });
    await gateway.listed({ tools: SERVERS, resources: SERVERS, prompts: SERVERS });
    admin = new AdminClient(gateway);
    client = await connectV1(gateway.url, { elicitation: {} }, (own) => {
      own.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Ada' } }));
      own.setNotificationHandler(
        ResourceUpdatedNotificationSchema,
        ({ params: { uri, _meta } }) => void (updates.push(uri), updateMetas.push(_meta)),
      );
      own.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params));
      own.setNotificationHandler(ToolListChangedNotificationSchema, () => void listChanges++);
    });
    await client.listTools();
  });

  const inputRequests = async (server: string, outcome: string): Promise<number | undefined> =>
    new Scrape((await exchange(gateway.urlOf('/metrics'))).text).value('gatehouse_input_requests_total', {
      server_id: server,
      outcome,
    });

  it.each(SERVERS)('show the era of %s to administrators', async (server) => {
    const { json } = await admin.get(`servers/${server}`);
    expect(json).toMatchObject({
      state: 'ready',
      era: '2026',
      eraSince: expect.any(String),
      protocolVersion: '2026-07-28',
      notificationStream: 'open',
      updates: 'subscriptions',
    });
  });

  it.each(SERVERS)('call tools of %s, also with names and arguments in headers', async (server) => {
    expect(textOf(await client.callTool({ name: `${server}__echo`, arguments: { text: 'hi' } }))).toBe('hi');
    const args = { region: 'größer', count: 42 };
    expect(textOf(await client.callTool({ name: `${server}__route`, arguments: args }))).toBe(
      JSON.stringify(args),
    );
  });

  it.each(SERVERS)('get structured output of %s as an object', async (server) => {
    const result = await client.callTool({ name: `${server}__numbers`, arguments: {} });
    expect(result.structuredContent).toEqual({ result: [1, 2] });
  });

  it.each(SERVERS)('answer the questions of tools and prompts of %s', async (server) => {
    expect(textOf(await client.callTool({ name: `${server}__ask`, arguments: {} }))).toMatch(/^accept Ada /);
    const { messages } = await client.getPrompt({ name: `${server}__ask` });
    expect(messages[0]?.content).toEqual({ type: 'text', text: 'I am Ada' });
    expect(await inputRequests(server, 'answered')).toBeGreaterThanOrEqual(2);
  });

  it.each(SERVERS)('see rising progress while a tool of %s asks in between', async (server) => {
    const seen: unknown[] = [];
    const onprogress = (progress: unknown): void => void seen.push(progress);
    const call = { name: `${server}__ask-in-steps`, arguments: {} };
    expect(textOf(await client.callTool(call, undefined, { onprogress }))).toBe('done');
    expect(seen).toEqual([
      { progress: 1, total: 2 },
      { progress: 2, total: 2 },
      { progress: 3, total: 4 },
      { progress: 4, total: 4 },
    ]);
  });

  it.each(SERVERS)('get an error result when %s does not stop asking', async (server) => {
    const result = await client.callTool({ name: `${server}__ask-forever`, arguments: {} });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain('still requires input after 8 rounds');
    expect(await inputRequests(server, 'failed')).toBe(1);
  });

  it.each(SERVERS)('read resources of %s, and get the code of 2025 for a missing one', async (server) => {
    const { contents } = await client.readResource({ uri: `resource://${server}/test://doc` });
    expect(contents[0]).toMatchObject({ text: 'first' });
    const missing = client.readResource({ uri: `resource://${server}/test://none` });
    expect(await refusalOf(missing)).toMatchObject({ code: -32002 });
  });

  it('get log messages of their calls at the level that they set', async () => {
    await client.setLoggingLevel('info');
    await client.callTool({ name: 'modern__log', arguments: {} });
    expect(logged).toContainEqual({ level: 'info', data: 'logged by the call' });
  });

  it('cancel a call at the server', async () => {
    const abort = new AbortController();
    const before = states.modern.cancelled;
    const call = client.callTool({ name: 'modern__wait', arguments: {} }, undefined, {
      signal: abort.signal,
    });
    await until('the call runs', () => states.modern.waiting > 0);
    abort.abort();
    await refusalOf(call);
    expect(await until('the server notices', () => states.modern.cancelled > before)).toBe(true);
  });

  it.each(['both', 'modern'] as const)('get each update of %s once', async (server) => {
    const uri = `resource://${server}/test://doc`;
    await client.subscribeResource({ uri });
    for (let update = 1; update <= 3; update++) {
      servers[server].notify.resourceUpdated('test://doc');
      await until('the update arrives', () => updates.filter((one) => one === uri).length >= update);
    }
    expect(updates.filter((one) => one === uri)).toHaveLength(3);
    // The id of the gateway's own listen stream does not reach the client.
    expect(new Set(updateMetas)).toEqual(new Set([undefined]));
  });

  it('get each update of a server over stdio once', async () => {
    const uri = 'resource://stdio/test://doc';
    const count = (): number => updates.filter((one) => one === uri).length;
    await client.subscribeResource({ uri });
    for (let update = 1; update <= 3; update++) {
      await client.callTool({ name: 'stdio__edit', arguments: { text: `text ${update}` } });
      await until('the update arrives', () => count() >= update);
    }
    expect(count()).toBe(3);
    const { contents } = await client.readResource({ uri });
    expect(contents[0]).toMatchObject({ text: 'text 3' });
  });

  it('get one update of each subscribed resource after the stream of the server broke', async () => {
    const uri = 'resource://modern/test://doc';
    const before = updates.filter((one) => one === uri).length;
    servers.modern.breakConnections();
    await until('an update arrives', () => updates.filter((one) => one === uri).length > before);
    servers.modern.notify.resourceUpdated('test://doc');
    await until('the next update arrives', () => updates.filter((one) => one === uri).length > before + 1);
    expect(updates.filter((one) => one === uri)).toHaveLength(before + 2);
  });

  it('learn that the list of a server has changed', async () => {
    states.modern.extraTools.push('added');
    servers.modern.notify.toolsChanged();
    await until('the client is notified', () => listChanges > 0);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('modern__added');
  });
});

it('a server of 2026 that offers 2025 too is shown with that revision', async () => {
  const server = await ScriptedServer.start();
  server
    .tool('echo', () => text('hi'))
    .on('server/discover', () => ({
      resultType: 'complete',
      supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18'],
      capabilities: { tools: {} },
      ttlMs: 0,
      cacheScope: 'private',
    }));
  const gateway = await startGateway({
    admin: { token: ADMIN_TOKEN },
    mcpServers: { rust: { ...server.stdio(), era: '2026' } },
  });
  await gateway.listed({ tools: ['rust'] });
  const { json } = await new AdminClient(gateway).get('servers/rust');
  expect(json).toMatchObject({ era: '2026', alsoOffers: '2025-11-25' });
  const env = { GATEHOUSE_URL: gateway.urlOf('/'), GATEHOUSE_ADMIN_TOKEN: ADMIN_TOKEN };
  const { stdout } = await launch(['servers', 'show', 'rust'], env).done;
  expect(stdout).toMatch(/also offers +2025-11-25 \(used with era: 2025\)/);
});

type Version = 'sdk1' | 'stateless' | 'reject';

/** A server of SDK 1.x, or of SDK 2.x with this setting of `legacy`. */
async function startVersion(version: Version, port?: number) {
  if (version === 'sdk1') {
    const server = await LegacySdkServer.start(port);
    return { server, sendUpdate: () => server.sendUpdates() };
  }
  const server = await ModernSdkServer.start(() => buildServer(), { legacy: version, ...(port && { port }) });
  return { server, sendUpdate: () => server.notify.resourceUpdated('test://doc') };
}

describe('clients with links of their own to a server that is replaced by the other era', () => {
  it.each<[Version, Version]>([
    ['sdk1', 'stateless'],
    ['sdk1', 'reject'],
    ['stateless', 'sdk1'],
    ['reject', 'sdk1'],
  ])('get updates and questions before and after it (%s, %s)', async (before, after) => {
    const first = await startVersion(before);
    const gateway = await startGateway({
      http: { modern: true },
      mcpServers: { own: { url: first.server.url, isolation: 'session' } },
    });
    await gateway.listed({ tools: ['own'], resources: ['own'] });
    const uri = 'resource://own/test://doc';
    const answer = { action: 'accept' as const, content: { name: 'Ada' } };
    const updates = { session: 0, listen: 0 };
    const session = await connectV1(gateway.url, { elicitation: {} }, (own) => {
      own.setRequestHandler(ElicitRequestSchema, () => answer);
      own.setNotificationHandler(ResourceUpdatedNotificationSchema, () => void updates.session++);
    });
    await session.subscribeResource({ uri });
    const modern = await connectModern(gateway.url, { elicitation: { form: {} } }, (own) => {
      own.setRequestHandler('elicitation/create', () => answer);
      own.setNotificationHandler('notifications/resources/updated', () => void updates.listen++);
    });
    await modern.listen({ resourceSubscriptions: [uri] });
    const untilUpdates = (count: number): Promise<unknown> =>
      until(`each client has ${count} updates`, () => Object.values(updates).every((n) => n >= count));
    first.sendUpdate();
    await untilUpdates(1);
    const { port } = first.server;
    await first.server.stop();
    const second = await startVersion(after, port);
    await untilUpdates(2);
    const asked = { name: 'own__ask', arguments: {} };
    expect(textOf(await session.callTool(asked))).toMatch(/^accept Ada/);
    expect(textOf(await modern.callTool(asked))).toMatch(/^accept Ada/);
    second.sendUpdate();
    await untilUpdates(3);
    expect(updates).toEqual({ session: 3, listen: 3 });
  });
});

describe('a server that is replaced by a version of the other era at the same URL', () => {
  it.each(['shared', 'session'])('serves calls after each replacement (isolation: %s)', async (isolation) => {
    const first = await startEverything('streamableHttp');
    const port = Number(new URL(first.url).port);
    const gateway = await startGateway({
      admin: { token: ADMIN_TOKEN },
      mcpServers: { swap: { url: first.url, connectTimeoutMs: 5000, isolation } },
    });
    await gateway.listed({ tools: ['swap'] });
    const client = await connectV1(gateway.url);
    const admin = new AdminClient(gateway);
    const era = async (): Promise<unknown> => (await admin.get('servers/swap')).json['era'];
    const called = (): Promise<unknown> =>
      client
        .callTool({ name: 'swap__echo', arguments: { text: 'hi', message: 'hi' } })
        .catch(() => undefined);
    /** Whether calls succeed in this era, after some time. */
    const serves = (expected: string): Promise<boolean> =>
      until(`the server is served in ${expected}`, async () => {
        const result = await called();
        return result !== undefined && textOf(result).includes('hi') && (await era()) === expected;
      });
    expect(await serves('2025')).toBe(true);
    await first.kill();
    const modern = await ModernSdkServer.start(() => buildServer(), { port });
    expect(await serves('2026')).toBe(true);
    await modern.stop();
    const last = await startEverything('streamableHttp', port);
    expect(await serves('2025')).toBe(true);
    await last.kill();
    await ModernSdkServer.start(() => buildServer(), { port, legacy: 'stateless' });
    expect(await serves('2026')).toBe(true);
  });
});
