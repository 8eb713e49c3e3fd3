import { resolve } from 'node:path';
import type { TextContent } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { callModern, MODERN_VERSION, postModern, streamModern } from '../kit/modern-calls.js';
import { ModernSdkServer } from '../kit/modern-server/modern-sdk-server.js';
import { buildServer, createState } from '../kit/modern-server/offer.mjs';
import { refusalOf } from '../kit/promises.js';
import { messageIn, RawSession } from '../kit/raw-session.js';
import { everythingOverStdio, startEverything } from '../kit/real-servers.js';
import { connectModern, connectV1, connectV2, type ClientV2 } from '../kit/sdk-clients.js';
import { exchange } from '../kit/http.js';
import { Scrape } from '../kit/scrape.js';
import { until } from '../kit/until.js';

/** Servers of SDK 1.x over both transports, and of SDK 2.x: with both eras, only 2026, and only 2026 over stdio. */
const OLD = ['http1', 'stdio1'] as const;
const NEW = ['both', 'modern', 'stdio2'] as const;
const SERVERS = [...OLD, ...NEW] as const;
const MODERN_STDIO = {
  command: process.execPath,
  args: [resolve('test/kit/modern-server/stdio.mjs'), 'reject'],
};

const CLIENTS = ['v1', 'legacy', 'auto', 'pinned'] as const;
const MODERN_CLIENTS = ['auto', 'pinned'] as const;

type Client = Pick<
  ClientV2,
  'listTools' | 'listResources' | 'listResourceTemplates' | 'listPrompts' | 'readResource' | 'complete'
> &
  Pick<ClientV2, 'getPrompt' | 'callTool'>;

const answerQuestions = (client: ClientV2): void =>
  client.setRequestHandler('elicitation/create', () => ({
    action: 'accept' as const,
    content: { name: 'Ada' },
  }));
/** The servers that a client of 2026 lists tools of. */
async function listedServers(url: string, options: object = {}): Promise<ReadonlySet<string>> {
  const { result } = await callModern(url, 'tools/list', {}, options);
  return new Set((result!['tools'] as { name: string }[]).map((tool) => tool.name.split('__')[0]!));
}
const schemaOfNumbers = (tools: readonly { name: string; outputSchema?: unknown }[]): unknown =>
  tools.find((tool) => tool.name === 'modern__numbers')?.outputSchema;
const textOf = (result: unknown): string => (result as { content: TextContent[] }).content[0]!.text;

describe('clients of both eras side by side, in front of servers of both eras', () => {
  const states = { both: createState(), modern: createState() };
  let servers: Record<'both' | 'modern', ModernSdkServer>;
  let gateway: Gateway;
  let clients: Record<(typeof CLIENTS)[number], Client>;
  let pinned: ClientV2;

  beforeAll(async () => {
    const http1 = await startEverything('streamableHttp');
    servers = {
      both: await ModernSdkServer.start(() => buildServer(states.both), { legacy: 'stateless' }),
      modern: await ModernSdkServer.start(() => buildServer(states.modern)),
    };
    gateway = await startGateway({
      mcpServers: {
        http1: { url: http1.url },
        stdio1: everythingOverStdio(),
        both: { url: servers.both.url },
        modern: { url: servers.modern.url },
        stdio2: MODERN_STDIO,
      },
      projects: { some: { servers: ['modern'] } },
    });
    await gateway.listed({ tools: SERVERS, resources: SERVERS, prompts: SERVERS });
    const capabilities = { elicitation: { form: {} } };
    pinned = await connectModern(gateway.url, capabilities, answerQuestions);
    clients = {
      v1: (await connectV1(gateway.url)) as unknown as Client,
      legacy: await connectV2(gateway.url),
      auto: await connectModern(gateway.url, capabilities, answerQuestions, {}, 'auto'),
      pinned,
    };
  });

  it('negotiate the era that they prefer', () => {
    expect((clients.auto as ClientV2).getProtocolEra()).toBe('modern');
    expect((clients.legacy as ClientV2).getProtocolEra()).toBe('legacy');
    expect(pinned.getNegotiatedProtocolVersion()).toBe(MODERN_VERSION);
    expect(pinned.getServerVersion()).toMatchObject({ name: 'gatehouse' });
    expect(pinned.getInstructions()).toContain('Instructions of the server');
    expect(Object.keys(pinned.getServerCapabilities() ?? {}).toSorted()).toEqual([
      'completions',
      'logging',
      'prompts',
      'resources',
      'tools',
    ]);
  });

  it('see the same tools, resources, templates and prompts', async () => {
    const seen = await Promise.all(
      CLIENTS.map(async (key) => {
        const client = clients[key];
        const { tools } = await client.listTools();
        const { resources } = await client.listResources();
        const { resourceTemplates } = await client.listResourceTemplates();
        const { prompts } = await client.listPrompts();
        return {
          tools: tools.map((tool) => tool.name),
          resources: resources.map(({ uri }) => uri),
          templates: resourceTemplates.map(({ uriTemplate }) => uriTemplate),
          prompts: prompts.map((prompt) => prompt.name),
        };
      }),
    );
    for (const lists of seen.slice(1)) expect(lists).toEqual(seen[0]);
    for (const server of SERVERS) expect(seen[0]!.tools).toContain(`${server}__echo`);
    expect(seen[0]!.templates.length).toBeGreaterThan(0);
  });

  it.each(CLIENTS)('call, read, get and complete (%s)', async (key) => {
    const client = clients[key];
    const { prompts } = await client.listPrompts();
    const { resources } = await client.listResources();
    for (const server of SERVERS) {
      const args = { message: 'hi', text: 'hi' };
      expect(textOf(await client.callTool({ name: `${server}__echo`, arguments: args }))).toContain('hi');
    }
    for (const server of NEW) {
      const { contents } = await client.readResource({ uri: `resource://${server}/test://doc` });
      expect(contents).toMatchObject([{ text: 'first', uri: `resource://${server}/test://doc` }]);
      const prompt = prompts.find(
        ({ _meta: meta }) =>
          meta?.['io.gatehouse/server'] === server && meta['io.gatehouse/name'] === 'größe',
      );
      const { messages } = await client.getPrompt({ name: prompt!.name });
      expect(messages[0]?.content).toMatchObject({ text: 'groß' });
      const ref = { type: 'ref/prompt' as const, name: prompt!.name };
      const { completion } = await client.complete({ ref, argument: { name: 'n', value: 'E' } });
      expect(completion.values).toEqual(['E of größe']);
    }
    for (const server of OLD) {
      const { uri } = resources.find((resource) => resource.uri.startsWith(`resource://${server}/`))!;
      expect((await client.readResource({ uri })).contents).toMatchObject([{ uri }]);
      const { completion } = await client.complete({
        ref: { type: 'ref/prompt', name: `${server}__completable-prompt` },
        argument: { name: 'name', value: 'E' },
        context: { arguments: { department: 'Sales' } },
      });
      expect(completion.values).toEqual(['Eve']);
    }
  });

  it('get structured output in the form of their era', async () => {
    for (const server of NEW) {
      const call = { name: `${server}__numbers`, arguments: {} };
      const results = await Promise.all(CLIENTS.map((key) => clients[key].callTool(call)));
      const outputs = results.map(({ structuredContent }) => structuredContent);
      expect(outputs).toEqual([{ result: [1, 2] }, { result: [1, 2] }, [1, 2], [1, 2]]);
    }
    const raw = await RawSession.open(gateway.url);
    expect(schemaOfNumbers(await raw.list('tools'))).toMatchObject({ type: 'object', required: ['result'] });
    expect(schemaOfNumbers((await pinned.listTools()).tools)).toMatchObject({ type: 'array' });
  });

  it.each(MODERN_CLIENTS)('repeat arguments in headers, which are compared (%s)', async (key) => {
    const args = { region: 'größer', count: 42 };
    for (const server of NEW)
      expect(textOf(await clients[key].callTool({ name: `${server}__route`, arguments: args }))).toBe(
        JSON.stringify(args),
      );
    expect(servers.modern.requests.at(-1)).toMatchObject({ 'mcp-param-count': '42', 'mcp-name': 'route' });
    for (const headers of [{}, { 'mcp-param-region': 'eu', 'mcp-param-count': '43' }]) {
      const params = { name: 'modern__route', arguments: { region: 'eu', count: 42 } };
      const { status, text } = await postModern(gateway.url, 'tools/call', params, { headers });
      expect([status, messageIn(text).error?.code]).toEqual([400, -32020]);
    }
    const params = { name: 'modern__route', arguments: { region: 'eu', count: 42 } };
    const headers = { 'mcp-param-region': 'eu', 'mcp-param-count': '4.2e1' };
    expect((await callModern(gateway.url, 'tools/call', params, { headers })).result).toBeDefined();
  });

  it.each(MODERN_CLIENTS)('answer the questions of servers of 2026 (%s)', async (key) => {
    for (const server of NEW) {
      const result = await clients[key].callTool({ name: `${server}__ask`, arguments: {} });
      expect(textOf(result)).toBe(`accept Ada ${JSON.stringify(' state "é\u2028 ')}`);
      const { messages } = await clients[key].getPrompt({ name: `${server}__ask` });
      expect(messages[0]?.content).toEqual({ type: 'text', text: 'I am Ada' });
    }
  });

  it('get input requests with the keys and the state of the server', async () => {
    const envelope = { clientCapabilities: { elicitation: {} } };
    const params = { name: 'modern__ask', arguments: {} };
    const { result } = await callModern(gateway.url, 'tools/call', params, { envelope });
    expect(result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { name: { method: 'elicitation/create' } },
      requestState: ' state "é\u2028 ',
    });
    expect(result).not.toHaveProperty('ttlMs');
    const refused = await postModern(gateway.url, 'tools/call', params);
    expect([refused.status, messageIn(refused.text).error?.code]).toEqual([400, -32021]);
  });

  it('say to servers of 2026 what the client supports, and who the gateway is', async () => {
    const clientCapabilities = { sampling: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };
    const params = { name: 'modern__envelope', arguments: {} };
    const options = { envelope: { clientCapabilities, logLevel: 'error' } };
    const answer = await callModern(gateway.url, 'tools/call', params, options);
    expect(JSON.parse(textOf(answer.result))).toEqual({
      'io.modelcontextprotocol/protocolVersion': MODERN_VERSION,
      'io.modelcontextprotocol/clientInfo': { name: 'gatehouse', version: expect.any(String) },
      'io.modelcontextprotocol/clientCapabilities': { sampling: {} },
      'io.modelcontextprotocol/logLevel': 'error',
    });
  });

  it.each(OLD)('get the progress of %s', async (server) => {
    const received: unknown[] = [];
    const call = {
      name: `${server}__trigger-long-running-operation`,
      arguments: { duration: 0.4, steps: 4 },
    };
    await pinned.callTool(call, { onprogress: ({ progress }) => received.push(progress) });
    expect(received).toEqual([1, 2, 3, 4]);
  });

  it.each(NEW)('get the progress of %s, and cancel a call by closing its response', async (server) => {
    const abort = new AbortController();
    const cancelled = async (): Promise<number> =>
      Number(textOf(await pinned.callTool({ name: `${server}__cancelled`, arguments: {} })));
    const before = await cancelled();
    const received: unknown[] = [];
    const call = pinned.callTool(
      { name: `${server}__wait`, arguments: {} },
      { signal: abort.signal, onprogress: ({ progress }) => received.push(progress) },
    );
    await until('progress arrives', () => received.length > 0);
    abort.abort();
    await refusalOf(call);
    expect(await until('the server notices', async () => (await cancelled()) === before + 1)).toBe(true);
  });

  it.each(OLD)('cancel a call to %s by closing its response', async (server) => {
    const params = {
      name: `${server}__trigger-long-running-operation`,
      arguments: { duration: 60, steps: 600 },
    };
    const events = await streamModern(gateway.url, 'tools/call', params, { meta: { progressToken: 1 } });
    await events.message('progress', ({ method }) => method === 'notifications/progress');
    const inFlight = async (): Promise<number | undefined> =>
      new Scrape((await exchange(gateway.urlOf('/metrics'))).text).value('mcp_backend_in_flight', {
        server_id: server,
      });
    expect(await inFlight()).toBe(1);
    events.disconnect();
    expect(await until('the call has ended', async () => (await inFlight()) === 0)).toBe(true);
  });

  it('get log messages of their calls, if they set a level', async () => {
    const params = { name: 'modern__log', arguments: {} };
    const levels = async (logLevel: string | undefined): Promise<unknown[]> => {
      const { text } = await postModern(gateway.url, 'tools/call', params, { envelope: { logLevel } });
      return [...text.matchAll(/"level":"(\w+)"/g)].map(([, level]) => level);
    };
    expect(await levels('info')).toEqual(['info']);
    expect(await levels('error')).toEqual([]);
    expect(await levels(undefined)).toEqual([]);
  });

  it.each(SERVERS)('get -32602 for a resource that %s does not have', async (server) => {
    const uri = `resource://${server}/test://none`;
    const { error } = await callModern(gateway.url, 'resources/read', { uri });
    expect(error).toMatchObject({ code: -32602, data: { uri } });
  });

  it('name the project in the path, a header or _meta', async () => {
    const projectUrl = gateway.urlOf('/projects/some/mcp');
    const inProject = new Set(['modern']);
    expect(await listedServers(projectUrl)).toEqual(inProject);
    const headers = { 'x-gatehouse-project': 'some' };
    expect(await listedServers(gateway.url, { headers })).toEqual(inProject);
    expect(await listedServers(gateway.url, { meta: { projectId: 'some' } })).toEqual(inProject);
    const conflicting = { meta: { projectId: 'other' } };
    expect((await callModern(projectUrl, 'tools/list', {}, conflicting)).error?.code).toBe(-32602);
    const call = { name: 'both__echo', arguments: {} };
    expect((await callModern(projectUrl, 'tools/call', call)).error?.message).toContain('Unknown tool');
    const discovered = await callModern(projectUrl, 'server/discover');
    expect(discovered.result).toMatchObject({ supportedVersions: [MODERN_VERSION], ttlMs: 0 });
  });
});

describe('a gateway with http.modern: false', () => {
  it('serves clients of 2026 in 2025, unless they require their revision', async () => {
    const server = await ModernSdkServer.start(() => buildServer());
    const gateway = await startGateway({
      http: { modern: false },
      mcpServers: { modern: { url: server.url } },
    });
    await gateway.listed({ tools: ['modern'] });
    const client = await connectModern(gateway.url, {}, () => {}, {}, 'auto');
    expect(client.getProtocolEra()).toBe('legacy');
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toContain('modern__echo');
    expect(await refusalOf(connectModern(gateway.url))).toMatchObject({ code: 'ERA_NEGOTIATION_FAILED' });
    const stream = { headers: { accept: 'text/event-stream' } };
    expect((await exchange(gateway.url, stream)).status).toBe(400);
  });
});
