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
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { ModernSdkServer } from '../kit/modern-server/modern-sdk-server.js';
import { buildServer, createState } from '../kit/modern-server/offer.mjs';
import { refusalOf } from '../kit/promises.js';
import { startEverything } from '../kit/real-servers.js';
import { Scrape } from '../kit/scrape.js';
import { connectV1, type ClientV1 } from '../kit/sdk-clients.js';
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

describe('a server that is replaced by a version of the other era at the same URL', () => {
  it('serves calls after each replacement', async () => {
    const first = await startEverything('streamableHttp');
    const port = Number(new URL(first.url).port);
    const gateway = await startGateway({
      admin: { token: ADMIN_TOKEN },
      mcpServers: { swap: { url: first.url, connectTimeoutMs: 5000 } },
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
