import { beforeAll, describe, expect, it } from '@jest/globals';
import { McpServer, ProtocolError } from '@modelcontextprotocol/server';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { envelopeOf, MODERN_VERSION } from '../kit/modern-calls.js';
import {
  ANSWERED,
  bodyWith,
  outcomeOf,
  refused,
  toolCall,
  type ModernRequest,
  type Outcome,
} from '../kit/modern-outcomes.js';
import { ModernSdkServer } from '../kit/modern-server/modern-sdk-server.js';
import { RawSession } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';

/*
 * Which rule of revision 2026-07-28 refuses a request, from the pages basic/transports/streamable-http and basic/versioning of
 * the specification. The first rule that a request breaks decides. The rules of headers: modern-headers.spec.ts.
 */

const LATER = '2027-01-01';
const noCapabilities = { clientCapabilities: undefined };
const later = { protocolVersion: LATER };
const ENVELOPE_KEY = 'io.modelcontextprotocol/';

/** A request without an envelope. */
const BARE = bodyWith('tools/list', '{}');

/** The params of a call as text: JSON.stringify does not repeat a member. */
const repeatedMeta = (first: object, last: object): string =>
  `{"_meta":${JSON.stringify(first)},"name":"echo","arguments":{},"_meta":${JSON.stringify(last)}}`;

/** Its handlers are those of the test: `registerTool` turns an error into a result. */
function buildModernServer(): McpServer {
  const modern = new McpServer({ name: 'modern', version: '1' }, { capabilities: { tools: {} } });
  modern.server.setRequestHandler('tools/list', () => ({
    tools: [{ name: 'needs_sampling', inputSchema: { type: 'object' } }],
  }));
  modern.server.setRequestHandler('tools/call', () => {
    throw new ProtocolError(-32021, 'sampling is required', { requiredCapabilities: { sampling: {} } });
  });
  return modern;
}

let gateway: Gateway;
let server: ScriptedServer;

const send = (request: ModernRequest): Promise<Outcome> => outcomeOf(gateway.url, request);

/** The last call that reached the server of 2025. */
const lastCall = (): string =>
  server.received.findLast(({ message }) => message.method === 'tools/call')!.text;

beforeAll(async () => {
  server = await ScriptedServer.start();
  server
    .tool('echo', (received) => text(received.text))
    .prompt('greet', () => ({ messages: [] }))
    .resource('notes://a');
  const modern = await ModernSdkServer.start(buildModernServer);
  gateway = await startGateway({
    naming: { tools: 'never', resources: 'original' },
    mcpServers: { legacy: server.stdio(), modern: { url: modern.url } },
  });
  await gateway.listed({ tools: ['legacy', 'modern'], resources: ['legacy'] });
});

describe('a request of revision 2026-07-28', () => {
  it.each<[string, ModernRequest]>([
    ['server/discover', { method: 'server/discover' }],
    ['tools/list', {}],
    ['tools/call', toolCall('echo')],
    ['prompts/get', { method: 'prompts/get', params: { name: 'greet' } }],
    ['without clientInfo', { envelope: { clientInfo: undefined } }],
    ['with a log level', { envelope: { logLevel: 'debug' } }],
    ['with a Last-Event-ID', { headers: { 'last-event-id': '7' } }],
  ])('is answered without a session (%s)', async (_what, request) => {
    expect(await send(request)).toMatchObject(ANSWERED);
  });

  it('does not pass its envelope to a server of 2025', async () => {
    const meta = { 'com.example/kept': true };
    expect(await send({ ...toolCall('echo'), meta })).toMatchObject(ANSWERED);
    expect(lastCall()).not.toContain(ENVELOPE_KEY);
    expect(lastCall()).toContain('com.example/kept');
  });
});

describe('the era of a request', () => {
  it.each<[string, ModernRequest, number, number]>([
    ['a version header without an envelope', { body: BARE }, 400, -32602],
    ['an envelope without a version', { envelope: { protocolVersion: undefined } }, 400, -32602],
    [
      'the header of a later version without an envelope',
      { body: BARE, headers: { 'mcp-protocol-version': LATER } },
      400,
      -32602,
    ],
    [
      'an initialize with a version header',
      { method: 'initialize', body: bodyWith('initialize', '{}') },
      400,
      -32020,
    ],
  ])('is refused if the header alone claims 2026 (%s)', async (_what, request, status, code) => {
    expect(await send(request)).toMatchObject(refused(status, code));
  });

  it('is refused if only the header claims 2026 in a session of 2025', async () => {
    const session = await RawSession.open(gateway.url);
    const outcome = await send({ body: BARE, headers: { 'mcp-session-id': session.id } });
    expect(outcome).toMatchObject(refused(400, -32602));
    await session.end();
  });

  it('is 2025 if nothing claims 2026', async () => {
    const outcome = await send({ body: BARE, headers: { 'mcp-protocol-version': undefined } });
    expect(outcome).toMatchObject(refused(400, -32000));
    const session = await RawSession.open(gateway.url);
    expect(session.initializeResult['protocolVersion']).toBe('2025-11-25');
    await session.end();
  });

  it.each(['server/discover', 'subscriptions/listen'])('hides %s in a session of 2025', async (method) => {
    const session = await RawSession.open(gateway.url);
    expect((await session.request(method)).error?.code).toBe(-32601);
    await session.end();
  });

  it.each([
    ['an unknown session', 'no-such-session'],
    ['text that no session id can have', 'a b'],
  ])('is 2026 with an envelope, whatever the session id (%s)', async (_what, id) => {
    const outcome = await send({ ...toolCall('echo'), headers: { 'mcp-session-id': id } });
    expect(outcome).toMatchObject(ANSWERED);
  });

  it('is 2026 with an envelope and the id of a session, before and after the session ended', async () => {
    const session = await RawSession.open(gateway.url);
    const request = { ...toolCall('echo'), headers: { 'mcp-session-id': session.id } };
    expect(await send(request)).toMatchObject(ANSWERED);
    await session.end();
    expect(await send(request)).toMatchObject(ANSWERED);
  });
});

describe('a body that is not one request', () => {
  const request = bodyWith('tools/list', `{"_meta":${JSON.stringify(envelopeOf())}}`);
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

  it.each<[string, string, number]>([
    ['a batch of one', `[${request}]`, -32600],
    ['a batch whose last element has an envelope', `[${ping},${request}]`, -32600],
    ['a response', '{"jsonrpc":"2.0","id":1,"result":{}}', -32600],
    ['an error response', '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}', -32600],
    ['text after the request', `${request}}`, -32700],
  ])('is refused (%s)', async (_what, body, code) => {
    expect(await send({ body })).toMatchObject({ status: 400, code });
  });

  it.each(['notifications/cancelled', 'notifications/unknown'])('is accepted as %s', async (method) => {
    const params = { requestId: 1, _meta: envelopeOf() };
    const body = JSON.stringify({ jsonrpc: '2.0', method, params });
    const outcome = await send({ body, headers: { 'mcp-method': undefined } });
    expect(outcome).toMatchObject({ status: 202, text: '' });
  });
});

describe('another HTTP method', () => {
  const headers = { accept: 'text/event-stream', 'mcp-protocol-version': MODERN_VERSION };

  it.each(['GET', 'DELETE'])('is refused with 405 (%s)', async (method) => {
    const response = await exchange(gateway.url, { method, headers });
    expect(response.status).toBe(405);
    expect(response.headers.allow).toContain('POST');
  });

  it.each(['GET', 'DELETE'])('of this revision does not touch a session of 2025 (%s)', async (method) => {
    const session = await RawSession.open(gateway.url);
    const response = await exchange(gateway.url, {
      method,
      headers: { ...headers, 'mcp-session-id': session.id },
    });
    expect(response.status).toBe(400);
    expect((await session.request('ping')).result).toEqual({});
    await session.end();
  });
});

describe('the envelope', () => {
  it.each<[string, Record<string, unknown>]>([
    ['no clientCapabilities', { clientCapabilities: undefined }],
    ['clientCapabilities that are null', { clientCapabilities: null }],
    ['clientCapabilities that are an array', { clientCapabilities: [] }],
    ['clientCapabilities that are text', { clientCapabilities: 'all' }],
    ['a version that is a number', { protocolVersion: 20_260_728 }],
    ['a version that is null', { protocolVersion: null }],
    ['a clientInfo that is text', { clientInfo: 'raw' }],
    ['an unknown log level', { logLevel: 'loud' }],
    ['a log level that is a number', { logLevel: 3 }],
  ])('is refused with %s', async (_what, members) => {
    expect(await send({ envelope: members })).toMatchObject(refused(400, -32602));
  });

  it.each<[string, unknown]>([
    ['text', 'x'],
    ['null', null],
    ['an array', [envelopeOf()]],
  ])('is refused if `_meta` is %s', async (_what, meta) => {
    const body = bodyWith('tools/list', JSON.stringify({ _meta: meta }));
    expect(await send({ body })).toMatchObject(refused(400, -32602));
  });

  it('is refused if there are no params', async () => {
    const body = BARE.replace(',"params":{}', '');
    expect(await send({ body })).toMatchObject(refused(400, -32602));
  });

  it.each<[string, string]>([
    [
      'two envelopes',
      repeatedMeta(envelopeOf(), envelopeOf({ envelope: { clientCapabilities: { sampling: {} } } })),
    ],
    ['the envelope first', repeatedMeta(envelopeOf(), {})],
    ['the envelope last', repeatedMeta({}, envelopeOf())],
  ])('does not reach a server of 2025 if `_meta` is repeated (%s)', async (_what, repeated) => {
    const before = server.received.length;
    const body = bodyWith('tools/call', repeated);
    const outcome = await send({ ...toolCall('echo'), body });
    expect([200, 400]).toContain(outcome.status);
    expect([undefined, -32600, -32602]).toContain(outcome.code);
    const sent = server.received.slice(before).map((received) => received.text);
    expect(sent.join('\n')).not.toContain(ENVELOPE_KEY);
  });
});

describe('another version', () => {
  it.each(['2025-11-25', LATER, 'v999'])('is refused with the supported versions (%s)', async (version) => {
    const envelope = { protocolVersion: version };
    const outcome = await send({ envelope, headers: { 'mcp-protocol-version': version } });
    expect(outcome).toMatchObject(refused(400, -32022));
    expect(outcome.data).toEqual({
      supported: expect.arrayContaining([MODERN_VERSION]),
      requested: version,
    });
  });
});

describe('a method', () => {
  it.each([
    'unknown/method',
    'initialize',
    'ping',
    'logging/setLevel',
    'resources/subscribe',
    'resources/unsubscribe',
    'sampling/createMessage',
  ])('that this revision does not have is refused with 404 (%s)', async (method) => {
    expect(await send({ method })).toMatchObject(refused(404, -32601));
  });

  it.each<[string, ModernRequest, unknown]>([
    ['an unknown tool', toolCall('nothing'), undefined],
    ['an unknown prompt', { method: 'prompts/get', params: { name: 'nothing' } }, undefined],
    ['a cursor of no list', { params: { cursor: 'x' } }, undefined],
    [
      'an unknown resource',
      { method: 'resources/read', params: { uri: 'notes://nothing' } },
      { uri: 'notes://nothing' },
    ],
  ])('whose params are wrong is refused with 200 (%s)', async (_what, request, data) => {
    const outcome = await send(request);
    expect(outcome).toMatchObject(refused(200, -32602));
    expect(outcome.data).toEqual(data);
  });

  it('that needs a capability is refused with 400 and the capability', async () => {
    const outcome = await send(toolCall('needs_sampling'));
    expect(outcome).toMatchObject(refused(400, -32021));
    expect(outcome.data).toEqual({ requiredCapabilities: { sampling: {} } });
  });
});

describe('the order of the rules', () => {
  const ofVersion = { 'mcp-protocol-version': LATER };

  it.each<[string, ModernRequest, number, number]>([
    ['envelope, version header', { envelope: noCapabilities, headers: ofVersion }, 400, -32602],
    ['envelope, method', { method: 'ping', envelope: noCapabilities }, 400, -32602],
    ['version header, version', { envelope: later }, 400, -32020],
    ['version, Mcp-Method', { envelope: later, headers: { ...ofVersion, 'mcp-method': 'x' } }, 400, -32022],
    ['version, method', { method: 'ping', envelope: later, headers: ofVersion }, 400, -32022],
    ['Mcp-Method, method', { method: 'ping', headers: { 'mcp-method': 'tools/list' } }, 400, -32020],
    ['Mcp-Name, tool', { ...toolCall('nothing'), headers: { 'mcp-name': 'echo' } }, 400, -32020],
  ])('decides which of two broken rules answers: %s', async (_what, request, status, code) => {
    expect(await send(request)).toMatchObject(refused(status, code));
  });
});

describe('a refusal of HTTP', () => {
  it.each<[string, ModernRequest, number]>([
    ['another content type', { headers: { 'content-type': 'text/plain' } }, 415],
    ['no acceptable type', { headers: { accept: 'text/html' } }, 406],
  ])('has no code of the legacy range (%s)', async (_what, request, status) => {
    const outcome = await send(request);
    expect(outcome.status).toBe(status);
    expect(Math.abs(outcome.code! + 32_009.5)).toBeGreaterThan(10);
  });
});
