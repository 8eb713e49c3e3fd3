import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { Message } from '../kit/events.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { bodyOf, openExchange } from '../kit/http.js';
import { BOTH_TYPES, RawSession } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { within } from '../kit/until.js';

/** Every status that the gateway sends intentionally; 500 is not one of them. */
const EXPECTED_STATUSES = [200, 202, 204, 400, 403, 404, 405, 406, 413, 415];

const METHODS = [
  'ping',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
  'initialize',
];

/** Messages that are almost valid. */
const message = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 5, arbitrary: fc.constant('2.0') }, fc.jsonValue()),
    id: fc.oneof({ weight: 3, arbitrary: fc.nat() }, fc.string(), fc.jsonValue()),
    method: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...METHODS) }, fc.string(), fc.jsonValue()),
    params: fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          name: fc.oneof(
            fc.constantFrom('s__echo', 'echo', 's__prompt', '__proto__'),
            fc.string(),
            fc.jsonValue(),
          ),
          arguments: fc.jsonValue(),
          cursor: fc.oneof(fc.string(), fc.jsonValue()),
          ref: fc.record({ type: fc.constantFrom('ref/prompt', 'ref/resource'), name: fc.string() }),
          argument: fc.jsonValue(),
          level: fc.oneof(fc.constantFrom('debug', 'emergency'), fc.string()),
          requestId: fc.jsonValue(),
          progressToken: fc.jsonValue(),
          protocolVersion: fc.oneof(fc.constant('2025-11-25'), fc.string()),
          capabilities: fc.oneof(fc.constant({}), fc.jsonValue()),
          _meta: fc.oneof(fc.record({ progressToken: fc.jsonValue() }), fc.jsonValue()),
        },
        { requiredKeys: [] },
      ),
    ),
    result: fc.jsonValue(),
    error: fc.jsonValue(),
  },
  { requiredKeys: ['jsonrpc', 'id', 'method'] },
);

/** Their text with some bytes replaced. */
const mutated = fc
  .tuple(message, fc.nat(200), fc.nat(8), fc.uint8Array({ maxLength: 8 }))
  .map(([value, at, length, bytes]) => {
    const whole = Buffer.from(JSON.stringify(value));
    return Buffer.concat([whole.subarray(0, at), bytes, whole.subarray(at + length)]);
  });

const body = fc.oneof(
  { weight: 3, arbitrary: message.map((value) => Buffer.from(JSON.stringify(value))) },
  { weight: 3, arbitrary: mutated },
  fc.array(message, { maxLength: 25 }).map((values) => Buffer.from(JSON.stringify(values))),
  fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
);

const headerValue = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
});
const usually = (value: string): fc.Arbitrary<string> =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(value) }, headerValue);

/** Whether a response has the id of its request. */
function expectAnswerTo(sent: Buffer, answer: string): void {
  const { id } = JSON.parse(answer) as Message;
  if (id === undefined || answer.startsWith('[')) return;
  expect((JSON.parse(sent.toString()) as Message).id).toBe(id);
}

describe('random input', () => {
  let gateway: Gateway;
  let sessions: RawSession[];

  beforeAll(async () => {
    const server = await ScriptedServer.start();
    server.tool('echo', (call) => text(call.text)).prompt('prompt', () => ({ messages: [] }));
    gateway = await startGateway({ mcpServers: { s: server.stdio() } });
    await gateway.listed({ tools: ['s'], prompts: ['s'] });
    const revisions = ['2025-11-25', '2025-03-26'];
    sessions = await Promise.all(
      revisions.map((protocolVersion) => RawSession.open(gateway.url, { protocolVersion })),
    );
  });

  async function expectStillServing(): Promise<void> {
    expect(gateway.isRunning).toBe(true);
    expect((await sessions[0]!.request('ping')).result).toEqual({});
    expect(gateway.logs.filter(({ level }) => level === 'error')).toEqual([]);
  }

  it('is answered with an intended status and the id of the request', async () => {
    const request = fc.record({
      method: fc.oneof(
        { weight: 8, arbitrary: fc.constant('POST') },
        fc.constantFrom('GET', 'PUT', 'OPTIONS'),
      ),
      session: fc.nat(1),
      accept: usually(BOTH_TYPES),
      contentType: usually('application/json'),
      version: usually('2025-11-25'),
      lastEventId: fc.option(headerValue, { nil: undefined }),
      body,
    });
    const property = fc.asyncProperty(request, async (sent) => {
      const headers: Record<string, string> = {
        accept: sent.accept,
        'content-type': sent.contentType,
        'mcp-protocol-version': sent.version,
        'mcp-session-id': sessions[sent.session]!.id,
        ...(sent.lastEventId === undefined ? {} : { 'last-event-id': sent.lastEventId }),
      };
      const isPost = sent.method === 'POST';
      const asked = { method: sent.method, headers, ...(isPost ? { body: sent.body } : {}) };
      const response = await within('an answer', openExchange(gateway.url, asked));
      expect(EXPECTED_STATUSES).toContain(response.statusCode);
      // Other methods may be answered with an endless stream.
      if (!isPost) response.destroy();
      const answer = isPost ? await within('the whole answer', bodyOf(response)) : '';
      if (isPost && response.headers['content-type'] === 'application/json')
        expectAnswerTo(sent.body, answer);
    });
    await fc.assert(property, { numRuns: 500, interruptAfterTimeLimit: 8000 });
    await expectStillServing();
  });

  it('that is not HTTP leaves the gateway working', async () => {
    const { hostname, port } = new URL(gateway.url);
    const bytes = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 300 }),
      fc
        .string({ minLength: 1 })
        .map((start) => Buffer.from(`POST /mcp HTTP/1.1\r\nhost: localhost\r\n${start}\r\n\r\n`)),
    );
    const property = fc.asyncProperty(bytes, async (sent) => {
      const socket = connect(Number(port), hostname)
        .on('error', () => {})
        .resume();
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket.end(sent);
      await within('the connection to end', closed);
    });
    await fc.assert(property, { numRuns: 100, interruptAfterTimeLimit: 5000 });
    await expectStillServing();
    expect(gateway.stderr).toBe('');
  });
});
