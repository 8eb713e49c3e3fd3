// A server with four resources that sends updates of one of them on request over IPC.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const URIS = ['bench://wide', 'bench://narrow', 'bench://unsubscribed', 'bench://probe'];
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
/** Many updates are sent in bursts at an even rate. */
const BURST_INTERVAL_MS = 10;

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
    return reply(response, 200, JSON.stringify({ jsonrpc: '2.0', id, ...answerTo(method, params) }));
  });
});

/** An error for an unknown method, such as `server/discover`: the server is one of 2025. */
function answerTo(method, params) {
  const answer = RESULTS[method];
  return answer ? { result: answer(params) } : { error: { code: -32601, message: 'Method not found' } };
}

function reply(response, status, body = '') {
  const headers = { 'content-length': Buffer.byteLength(body) };
  if (body) headers['content-type'] = 'application/json';
  response.writeHead(status, headers).end(body);
}

/** A clock that all processes share. */
const now = () => performance.timeOrigin + performance.now();

const eventOf = (uri) => {
  const params = { uri, _meta: { stamp: now() } };
  return `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/resources/updated', params })}\n\n`;
};

async function sendBursts(uri, bursts, length) {
  for (let sent = 0; sent < bursts; sent++) {
    const next = sleep(BURST_INTERVAL_MS);
    stream.write(eventOf(uri).repeat(length));
    await next;
  }
}

async function sendUpdates({ updated, bursts, length }) {
  const at = now();
  if (bursts) await sendBursts(updated, bursts, length);
  else stream.write(eventOf(updated));
  process.send({ at });
}

process.on('message', (job) => void sendUpdates(job));

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  console.log(`fanout backend listens on http://127.0.0.1:${server.address().port}/mcp`);
});
