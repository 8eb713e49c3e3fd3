import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CreateMessageRequestSchema, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { freePort } from '../../../test/kit/http.js';
import { ArrivalQueue, HttpHarness } from '../../../test/kit/http-harness.js';
import { within } from '../../../test/kit/until.js';

const EVERYTHING = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js';

const START_MS = 30_000;

const harness = new HttpHarness();
afterEach(harness.release);

async function connect(url: string) {
  const transport = harness.transportTo(url);
  const states = new ArrivalQueue<string>('a state of the stream');
  Object.assign(transport, { onstream: states.add });
  const client = new Client({ name: 'spec', version: '1' }, { capabilities: { sampling: {} } });
  await within('the handshake', client.connect(transport));
  harness.onRelease(() => client.close());
  return { client, transport, states };
}

describe('StreamableHttpTransport under the SDK client, with server-everything', () => {
  let url: string;
  let stop: () => Promise<unknown>;

  beforeAll(async () => {
    const port = await freePort();
    const child = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
      env: { ...process.env, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const exited = once(child, 'exit');
    stop = () => (child.kill('SIGKILL'), exited);
    await within('the server to listen', once(createInterface(child.stderr), 'line'), START_MS);
    url = `http://127.0.0.1:${port}/mcp`;
  }, START_MS);

  afterAll(() => stop());

  it('lists and calls tools', async () => {
    const { client, transport } = await connect(url);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('echo');
    const calls = Array.from({ length: 50 }, (_, n) =>
      client.callTool({ name: 'echo', arguments: { message: `€${n}` } }),
    );
    const results = await within('all answers', Promise.all(calls));
    expect(results.map(({ content }) => content)).toEqual(
      calls.map((_, n) => [{ type: 'text', text: `Echo: €${n}` }]),
    );
    expect(transport.sessionId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('delivers progress and the response with the id of the request', async () => {
    const { client, transport } = await connect(url);
    const { onmessage } = transport;
    const seen: [what: string, requestId: unknown][] = [];
    const record: typeof onmessage = (message, received) => {
      seen.push(['method' in message ? message.method : 'answer', received?.requestId]);
      onmessage?.(message, received);
    };
    Object.assign(transport, { onmessage: record });
    const call = { name: 'trigger-long-running-operation', arguments: { duration: 0.1, steps: 3 } };
    await within('the answer', client.callTool(call, undefined, { onprogress: () => {} }));
    expect(seen.map(([what]) => what)).toEqual([
      ...Array<string>(3).fill('notifications/progress'),
      'answer',
    ]);
    expect(new Set(seen.map(([, requestId]) => requestId)).size).toBe(1);
  });

  it('answers a sampling request within a call', async () => {
    const { client } = await connect(url);
    client.setRequestHandler(CreateMessageRequestSchema, () => ({
      model: 'm',
      role: 'assistant' as const,
      content: { type: 'text' as const, text: 'forty-two' },
    }));
    const { content } = await within(
      'the answer',
      client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'what?' } }),
    );
    expect(JSON.stringify(content)).toContain('forty-two');
  });

  it('delivers log messages on the notification stream', async () => {
    const { client, transport, states } = await connect(url);
    const notifications = new ArrivalQueue<string>('a notification');
    client.fallbackNotificationHandler = ({ method }) => Promise.resolve(notifications.add(method));
    transport.openNotificationStream();
    expect(await states.next()).toBe('open');
    await client.callTool({ name: 'toggle-simulated-logging', arguments: {} });
    expect(await notifications.next()).toBe('notifications/message');
  });

  it('ends its session on close', async () => {
    const { client, transport } = await connect(url);
    const { sessionId = '' } = transport;
    await within('the close', client.close());
    const answer = await fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': sessionId } });
    expect(answer.status).toBe(400);
  });
});

/** Stores the events of one session, from which the SDK server resumes streams. */
class MemoryEventStore {
  private readonly events: { id: string; streamId: string; message: JSONRPCMessage }[] = [];

  storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    const id = `${streamId}/${this.events.length}`;
    this.events.push({ id, streamId, message });
    return Promise.resolve(id);
  }

  async replayEventsAfter(
    lastId: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const at = this.events.findIndex(({ id }) => id === lastId);
    const streamId = this.events[at]?.streamId ?? '';
    for (const event of this.events.slice(at + 1)) {
      if (event.streamId === streamId) await send(event.id, event.message);
    }
    return streamId;
  }
}

async function serveWithSdk(enableJsonResponse: boolean): Promise<string> {
  const mcp = new McpServer({ name: 'resumable', version: '1' });
  mcp.registerTool('slow', {}, async ({ closeSSEStream }) => {
    closeSSEStream?.();
    await new Promise((resolve) => setImmediate(resolve));
    return { content: [{ type: 'text', text: 'done' }] };
  });
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse,
    eventStore: new MemoryEventStore(),
    retryInterval: 60,
  });
  await mcp.connect(transport);
  const server = createServer((request, response) => void transport.handleRequest(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  harness.onRelease(() => {
    server.close();
    server.closeAllConnections();
    return mcp.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

describe('StreamableHttpTransport under the SDK client, with an SDK server', () => {
  it.each([
    ['one JSON body', true],
    ['a stream that the server closes before the response', false],
  ])('gets the response from %s', async (_how, enableJsonResponse) => {
    const { client } = await connect(await serveWithSdk(enableJsonResponse));
    const { content } = await within('the answer', client.callTool({ name: 'slow' }));
    expect(content).toEqual([{ type: 'text', text: 'done' }]);
  });
});
