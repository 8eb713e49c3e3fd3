// An MCP server over Streamable HTTP, and at `/sse` over HTTP+SSE, that misuses its connection: each tool is one attack, and
// its notification stream never pauses. At `/verbose`, the result of `initialize` has a
// megabyte, and there is no notification stream, so that large responses are read at full speed.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { shapes } from '../harness/hostile-shapes.mjs';

const LARGE_BYTES = 15_000_000;
const FLOOD_PAUSE_MS = 5;
const FLOOD_MESSAGES = 1000;
const RESOURCES_ON_ONE_PAGE = 50_000;
const LINKS = 80_000;
const META_MEMBERS = 1_000_000;
const CONTENTS = 100_000;
const TEMPLATES = 10_000;
/** Three bytes each; less than `limits.responseBytes` in total. */
const THREE_BYTE_CHARACTERS = 5_500_000;
const VERBOSE_BYTES = 1_000_000;

const frame = (message) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
const head = (id) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
const json = { 'content-type': 'application/json' };
const stream = { 'content-type': 'text/event-stream' };

const RESOURCES = JSON.stringify({
  resources: Array.from({ length: RESOURCES_ON_ONE_PAGE }, (_, i) => ({
    uri: `bad://r/${i}`,
    name: `r${i}`,
  })),
});
const LINKS_RESULT = JSON.stringify({
  content: Array.from({ length: LINKS }, (_, i) => ({
    type: 'resource_link',
    uri: `bad://l/${i}`,
    name: 'l',
  })),
});

const META_RESULT = `{"content":[],"_meta":{${Array.from({ length: META_MEMBERS }, (_, i) => `"k${i}":1`).join(',')}}}`;
const CONTENTS_RESULT = JSON.stringify({
  contents: Array.from({ length: CONTENTS }, (_, i) => ({ uri: `bad://c/${i}`, text: 'x' })),
});
/** A URI that matches none of them matches the beginning of each in many ways. */
const TEMPLATES_RESULT = JSON.stringify({
  resourceTemplates: Array.from({ length: TEMPLATES }, (_, i) => ({
    uriTemplate: `bad://t/{a}/{b}/{+c}/end-${i}`,
    name: `t${i}`,
  })),
});

/** Writes while the peer reads, until it closes the connection. */
function writeForever(response, chunk) {
  const write = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', write);
  write();
}

/** Sends bursts of messages until the peer closes the connection. */
function flood(response, messageOf) {
  let sent = 0;
  const timer = setInterval(() => {
    if (response.writableNeedDrain) return;
    const burst = Array.from({ length: FLOOD_MESSAGES }, () => frame(messageOf(sent++)));
    response.write(burst.join(''));
  }, FLOOD_PAUSE_MS);
  response.on('close', () => clearInterval(timer));
}

const result = (text) => (response, id) => response.writeHead(200, json).end(`${head(id)}${text}}`);
const shaped = (shape) =>
  result(`{"content":[],"structuredContent":{"value":${shapes[shape](LARGE_BYTES)}}}`);

/** What each tool does with the response to its call. */
const tools = {
  ...Object.fromEntries(
    Object.keys(shapes).map((shape) => [
      `shape_${shape.replaceAll(' ', '_')}`,
      (...call) => shaped(shape)(...call),
    ]),
  ),
  links: result(LINKS_RESULT),
  large: result(JSON.stringify({ content: [{ type: 'text', text: 'x'.repeat(1_000_000) }] })),
  meta_members: result(META_RESULT),
  three_byte_text: (...call) =>
    result(JSON.stringify({ content: [{ type: 'text', text: '漢'.repeat(THREE_BYTE_CHARACTERS) }] }))(
      ...call,
    ),
  endless_body: (response, id) =>
    writeForever(response.writeHead(200, json), `${head(id)}"${'x'.repeat(65_536)}`),
  endless_event: (response) => writeForever(response.writeHead(200, stream), `data: "${'x'.repeat(65_536)}`),
  endless_error: (response) => writeForever(response.writeHead(500, json), 'x'.repeat(65_536)),
  requests: (response) =>
    flood(response.writeHead(200, stream), (id) => ({
      id,
      method: 'roots/list',
      params: { x: 'x'.repeat(1000) },
    })),
  progress: (response, id) =>
    flood(response.writeHead(200, stream), (progress) => ({
      method: 'notifications/progress',
      params: { progressToken: id, progress },
    })),
  garbage: (response) => response.writeHead(200, json).end('{"jsonrpc":"2.0",'),
  hang: () => undefined,
  /** Ends the session, so that the gateway sends `initialize` again. */
  expire: (response) => response.writeHead(404).end(),
};

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, logging: {} },
    serverInfo: { name: 'hostile-server', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })),
  }),
  'resources/subscribe': () => ({}),
};

const notifications = [
  (i) => ({ method: 'notifications/resources/updated', params: { uri: `bad://r/${i}` } }),
  (i) => ({ method: 'notifications/message', params: { level: 'error', data: `message ${i}` } }),
  () => ({ method: 'notifications/tools/list_changed' }),
];

/** By session: the event streams of clients over HTTP+SSE. */
const sseStreams = new Map();

const server = createServer((request, response) => {
  response.on('error', () => {});
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  if (request.method === 'GET' && pathname === '/sse') return openSse(response);
  if (request.method === 'GET' && pathname === '/verbose') return response.writeHead(405).end();
  if (request.method === 'GET')
    return flood(response.writeHead(200, stream), (i) => notifications[i % notifications.length](i));
  if (request.method === 'DELETE') return response.writeHead(200).end();
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const incoming = JSON.parse(Buffer.concat(chunks).toString());
    const sse = sseStreams.get(searchParams.get('session'));
    if (!sse) return answer(response, incoming, pathname);
    response.writeHead(202).end();
    return incoming.method === undefined || answer(new SseResponse(sse), incoming, pathname);
  });
});

function openSse(response) {
  const session = randomUUID();
  response.writeHead(200, stream).write(`event: endpoint\ndata: /message?session=${session}\n\n`);
  sseStreams.set(session, response);
  response.on('close', () => sseStreams.delete(session));
  flood(response, (i) => notifications[i % notifications.length](i));
}

/** Has the methods of a response that the tools use, and writes to the event stream of a session. */
class SseResponse {
  #stream;
  #isEvents = false;
  #hasBegun = false;

  constructor(sseStream) {
    this.#stream = sseStream;
  }

  get destroyed() {
    return this.#stream.destroyed;
  }

  get writableNeedDrain() {
    return this.#stream.writableNeedDrain;
  }

  on(...listener) {
    this.#stream.on(...listener);
    return this;
  }

  setHeader() {}

  writeHead(_status, headers) {
    this.#isEvents = headers === stream;
    return this;
  }

  /** A body that is no event stream is the data of one event. */
  write(chunk) {
    const isFirst = !this.#hasBegun;
    this.#hasBegun = true;
    return this.#stream.write(isFirst && !this.#isEvents ? `data: ${chunk}` : chunk);
  }

  end(body) {
    if (body !== undefined) this.write(`${body}\n\n`);
  }
}

function answer(response, { id, method, params }, path) {
  if (id === undefined || method === undefined) return response.writeHead(202).end();
  if (method === 'tools/call') return tools[params.name](response, id);
  if (method === 'resources/list') return result(RESOURCES)(response, id);
  if (method === 'resources/templates/list') return result(TEMPLATES_RESULT)(response, id);
  if (method === 'resources/read') return result(CONTENTS_RESULT)(response, id);
  if (method === 'initialize') response.setHeader('mcp-session-id', randomUUID());
  const outcome = methods[method]?.(params);
  if (method === 'initialize' && path === '/verbose') outcome.instructions = 'x'.repeat(VERBOSE_BYTES);
  const message = outcome ? { result: outcome } : { error: { code: -32601, message: 'Method not found' } };
  return response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, ...message }));
}

server.listen(0, '127.0.0.1', () => {
  console.log(`hostile server listens on http://127.0.0.1:${server.address().port}/mcp`);
});
