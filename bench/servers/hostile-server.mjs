// An MCP server over Streamable HTTP that misuses its connection: each tool is one attack, and its notification stream
// never pauses.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { shapes } from '../harness/hostile-shapes.mjs';

const LARGE_BYTES = 15_000_000;
const FLOOD_PAUSE_MS = 5;
const FLOOD_MESSAGES = 1000;
const RESOURCES_ON_ONE_PAGE = 50_000;
const LINKS = 80_000;

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
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'resources/subscribe': () => ({}),
};

const notifications = [
  (i) => ({ method: 'notifications/resources/updated', params: { uri: `bad://r/${i}` } }),
  (i) => ({ method: 'notifications/message', params: { level: 'error', data: `message ${i}` } }),
  () => ({ method: 'notifications/tools/list_changed' }),
];

const server = createServer((request, response) => {
  response.on('error', () => {});
  if (request.method === 'GET')
    return flood(response.writeHead(200, stream), (i) => notifications[i % notifications.length](i));
  if (request.method === 'DELETE') return response.writeHead(200).end();
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => answer(response, JSON.parse(Buffer.concat(chunks).toString())));
});

function answer(response, { id, method, params }) {
  if (id === undefined || method === undefined) return response.writeHead(202).end();
  if (method === 'tools/call') return tools[params.name](response, id);
  if (method === 'resources/list') return result(RESOURCES)(response, id);
  if (method === 'initialize') response.setHeader('mcp-session-id', randomUUID());
  const outcome = methods[method]?.(params);
  const message = outcome ? { result: outcome } : { error: { code: -32601, message: 'Method not found' } };
  return response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, ...message }));
}

server.listen(0, '127.0.0.1', () => {
  console.log(`hostile server listens on http://127.0.0.1:${server.address().port}/mcp`);
});
