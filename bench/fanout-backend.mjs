// A server with four resources, which says that one of them was updated as often as it is told to.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const URIS = ['bench://wide', 'bench://narrow', 'bench://unheard', 'bench://beat'];
const RESOURCES = URIS.map((uri) => ({ uri, name: uri }));
const RESULTS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { resources: { subscribe: true } },
    serverInfo: { name: 'fanout-backend', version: '1.0.0' },
  }),
  ping: () => ({}),
  'resources/list': () => ({ resources: RESOURCES }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'resources/subscribe': () => ({}),
  'resources/unsubscribe': () => ({}),
};
/** A storm comes evenly, with a beat between its gusts. */
const GUST = 120;
const GUST_EVERY_MS = 10;

let stream;

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    stream = response;
    return;
  }
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    if (request.method === 'DELETE') return reply(response, 200);
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
    if (id === undefined) return reply(response, 202);
    return reply(response, 200, JSON.stringify({ jsonrpc: '2.0', id, result: RESULTS[method](params) }));
  });
});

function reply(response, status, body = '') {
  const headers = { 'content-length': Buffer.byteLength(body) };
  if (body) headers['content-type'] = 'application/json';
  response.writeHead(status, headers).end(body);
}

/** The same clock in every process. */
const now = () => performance.timeOrigin + performance.now();

const eventOf = (uri) => {
  const params = { uri, _meta: { stamp: now() } };
  return `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/resources/updated', params })}\n\n`;
};

async function storm(uri, times) {
  for (let sent = 0; sent < times; sent += GUST) {
    const next = sleep(GUST_EVERY_MS);
    stream.write(eventOf(uri).repeat(GUST) + eventOf('bench://beat'));
    await next;
  }
}

async function carryOut({ updated, times }) {
  const at = now();
  if (times) await storm(updated, times);
  else stream.write(eventOf(updated));
  process.send({ at });
}

process.on('message', (job) => void carryOut(job));

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  console.log(`fanout backend listens on http://127.0.0.1:${server.address().port}/mcp`);
});
