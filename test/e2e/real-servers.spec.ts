import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  type Progress,
  type TextContent,
} from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { everythingOverStdio, filesystem, memory, startEverything } from '../kit/real-servers.js';
import { Scrape } from '../kit/scrape.js';
import { connectV1, connectV2, type ClientV1, type ClientV2 } from '../kit/sdk-clients.js';
import { tempDir } from '../kit/temp-dir.js';
import { until } from '../kit/until.js';

/** The same server over each transport. */
const TRANSPORTS = ['stdio', 'http', 'sse'] as const;

const textOf = (result: unknown): string => (result as { content: TextContent[] }).content[0]!.text;

/** A client's result for `sampling/createMessage`. */
const sample = (by: string) => ({
  role: 'assistant' as const,
  model: by,
  content: { type: 'text' as const, text: by },
});

describe('the gateway with real servers over stdio, Streamable HTTP and SSE', () => {
  let gateway: Gateway;
  let v1: ClientV1;
  let v2: ClientV2;
  let dir: string;

  beforeAll(async () => {
    dir = tempDir();
    writeFileSync(join(dir, 'hello.txt'), 'hello from a file');
    const [http, sse] = await Promise.all([startEverything('streamableHttp'), startEverything('sse')]);
    gateway = await startGateway(
      {
        mcpServers: {
          stdio: { ...everythingOverStdio(), env: { ITS_OWN: 'own value' } },
          http: { url: http.url },
          sse: { url: sse.url, type: 'sse' },
          files: filesystem(dir),
          memory: memory(join(dir, 'memory.jsonl')),
        },
      },
      { SECRET_OF_THE_GATEWAY: 'gateway only' },
    );
    await gateway.listed({ tools: [...TRANSPORTS, 'files', 'memory'], prompts: TRANSPORTS });
    [v1, v2] = await Promise.all([connectV1(gateway.url), connectV2(gateway.url)]);
  });

  it('sends its name, capabilities and the instructions of its servers', () => {
    expect(v1.getServerVersion()).toMatchObject({ name: 'gatehouse' });
    expect(v1.getServerCapabilities()).toMatchObject({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      completions: {},
      logging: {},
    });
    expect(v1.getInstructions()).toContain('# stdio');
  });

  it('measures the requests of each server, and memory and CPU time of its processes', async () => {
    await v1.callTool({ name: 'stdio__echo', arguments: { message: 'x' } });
    const now = new Scrape((await exchange(gateway.urlOf('/metrics'))).text);
    const requests = { server_id: 'stdio', outcome: 'ok' };
    expect(now.value('gatehouse_backend_request_duration_seconds_count', requests)).toBeGreaterThanOrEqual(1);
    // A process of Node takes tens of megabytes.
    expect(now.value('gatehouse_backend_memory_bytes', { server_id: 'stdio' })).toBeGreaterThan(10_000_000);
    expect(now.value('gatehouse_backend_cpu_seconds_total', { server_id: 'stdio' })).toBeGreaterThan(0);
    expect(now.value('gatehouse_backend_memory_bytes', { server_id: 'http' })).toBeUndefined();
  });

  it('lists the tools of all servers in one list, each with the id of its server, to both SDKs', async () => {
    const [one, two] = await Promise.all([v1.listTools(), v2.listTools()]);
    const names = one.tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(TRANSPORTS.map((server) => `${server}__echo`)));
    expect(names).toEqual(expect.arrayContaining(['files__read_text_file', 'memory__create_entities']));
    expect(new Set(names).size).toBe(names.length);
    expect(two.tools.map(({ name }) => name)).toEqual(names);
    for (const { name, _meta } of one.tools)
      expect(name).toMatch(`${String(_meta?.['io.gatehouse/server'])}__`);
  });

  it('calls tools of all servers for two clients at once and returns each result to its caller', async () => {
    const calls = TRANSPORTS.flatMap((server) =>
      Array.from({ length: 5 }, (_, index) => {
        const name = `${server}__echo`;
        const message = `${server} ${index}`;
        return [
          v1.callTool({ name, arguments: { message: `v1 ${message}` } }).then(textOf),
          v2.callTool({ name, arguments: { message: `v2 ${message}` } }).then(textOf),
        ];
      }),
    );
    const expected = TRANSPORTS.flatMap((server) =>
      Array.from({ length: 5 }, (_, index) => [`Echo: v1 ${server} ${index}`, `Echo: v2 ${server} ${index}`]),
    );
    expect(await Promise.all(calls.flat())).toEqual(expected.flat());
  });

  it('reads a file through the filesystem server and stores an entity through the memory server', async () => {
    const read = await v1.callTool({
      name: 'files__read_text_file',
      arguments: { path: join(dir, 'hello.txt') },
    });
    expect(textOf(read)).toBe('hello from a file');
    const entities = [{ name: 'Gatehouse', entityType: 'gateway', observations: ['it stands'] }];
    await v2.callTool({ name: 'memory__create_entities', arguments: { entities } });
    const graph = await v1.callTool({ name: 'memory__read_graph', arguments: {} });
    expect(JSON.parse(textOf(graph))).toMatchObject({ entities });
  });

  it('forwards the failure of a tool as a result with isError, not as a JSON-RPC error', async () => {
    const result = await v1.callTool({ name: 'files__read_text_file', arguments: { path: '/etc/passwd' } });
    expect(result).toMatchObject({ isError: true });
    expect(textOf(result)).toContain('Access denied');
  });

  it.each(TRANSPORTS)('lists and gets prompts and completes their arguments (%s)', async (server) => {
    const name = `${server}__completable-prompt`;
    for (const client of [v1, v2]) {
      const { prompts } = await client.listPrompts();
      expect(prompts.map((prompt) => prompt.name)).toContain(name);
      const args = { department: 'Sales', name: 'Eve' };
      const { messages } = await client.getPrompt({ name, arguments: args });
      expect(messages[0]?.content).toMatchObject({
        text: 'Please promote Eve to the head of the Sales team.',
      });
      const { completion } = await client.complete({
        ref: { type: 'ref/prompt', name },
        argument: { name: 'name', value: 'E' },
        context: { arguments: { department: 'Sales' } },
      });
      expect(completion.values).toEqual(['Eve']);
    }
  });

  it.each(TRANSPORTS)('forwards the progress of a call to its client (%s)', async (server) => {
    const received: Progress[] = [];
    const call = {
      name: `${server}__trigger-long-running-operation`,
      arguments: { duration: 0.4, steps: 4 },
    };
    await v1.callTool(call, undefined, { onprogress: (progress) => received.push(progress) });
    expect(received.map(({ progress, total }) => [progress, total])).toEqual(
      [1, 2, 3, 4].map((step) => [step, 4]),
    );
    const receivedByV2: unknown[] = [];
    await v2.callTool(call, { onprogress: ({ progress }) => receivedByV2.push(progress) });
    expect(receivedByV2).toEqual([1, 2, 3, 4]);
  });

  it.each(TRANSPORTS)(
    'forwards log messages at or above the level that a client set (%s)',
    async (server) => {
      const received: { level: string }[] = [];
      const client = await connectV1(gateway.url, {}, (fresh) =>
        fresh.setNotificationHandler(
          LoggingMessageNotificationSchema,
          ({ params }) => void received.push(params),
        ),
      );
      await client.setLoggingLevel('debug');
      // The server picks the level of each message at random and sends the first one immediately.
      await client.callTool({ name: `${server}__toggle-simulated-logging`, arguments: {} });
      await until('a log message arrives', () => received.length > 0);
      await client.callTool({ name: `${server}__toggle-simulated-logging`, arguments: {} });
      expect(received[0]).toMatchObject({ data: expect.stringMatching(/level.message/i) });
    },
  );

  it.each(TRANSPORTS)(
    'forwards a request of a server to the client that called it, and the response back (%s)',
    async (server) => {
      const capabilities = { sampling: {}, elicitation: { form: {} } };
      const one = await connectV1(gateway.url, capabilities, (client) => {
        client.setRequestHandler(CreateMessageRequestSchema, () => sample('sampled by v1'));
        client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'v1' } }));
      });
      const two = await connectV2(gateway.url, capabilities, (client) => {
        client.setRequestHandler('sampling/createMessage', () => sample('sampled by v2'));
        client.setRequestHandler('elicitation/create', () => ({ action: 'decline' }));
      });
      const sampling = { name: `${server}__trigger-sampling-request`, arguments: { prompt: 'hello' } };
      expect(textOf(await one.callTool(sampling))).toContain('sampled by v1');
      expect(textOf(await two.callTool(sampling))).toContain('sampled by v2');
      const elicitation = { name: `${server}__trigger-elicitation-request`, arguments: {} };
      expect(JSON.stringify(await one.callTool(elicitation))).toContain('Name: v1');
      expect(textOf(await two.callTool(elicitation))).toContain('declined');
    },
  );

  it('starts a child with the variables of its config and none of the gateway’s', async () => {
    const env = textOf(await v1.callTool({ name: 'stdio__get-env', arguments: {} }));
    expect(JSON.parse(env)).toMatchObject({ ITS_OWN: 'own value', PATH: process.env['PATH'] });
    expect(env).not.toContain('GATEHOUSE');
    expect(env).not.toContain('gateway only');
  });

  it('answers ping itself', async () => {
    await expect(v1.ping()).resolves.toEqual({});
    await expect(v2.ping()).resolves.toEqual({});
  });

  it('cancels a call when its client aborts it', async () => {
    const abort = new AbortController();
    const call = v1.callTool(
      { name: 'stdio__trigger-long-running-operation', arguments: { duration: 60, steps: 600 } },
      undefined,
      { signal: abort.signal, onprogress: () => abort.abort('enough') },
    );
    await expect(call).rejects.toThrow('enough');
  });
});
