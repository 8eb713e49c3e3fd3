// MCP servers in one process at `/0`, `/1`, …. Arguments: resources in total, servers, resources per page, overlap.
// `POST /<server>/add` adds a resource to one server, which then sends list_changed.
import { createServer } from 'node:http';
import { listedText } from '../harness/resources.mjs';

const [count, serverCount, perPage] = process.argv.slice(2, 5).map(Number);
const overlap = process.argv[5];
const servers = Array.from({ length: serverCount }, () => ({
  size: count / serverCount,
  streams: new Set(),
}));

const methods = {
  initialize: (_server, { protocolVersion }) =>
    JSON.stringify({
      protocolVersion,
      capabilities: { resources: { listChanged: true } },
      serverInfo: { name: 'resource-backend', version: '1.0.0' },
    }),
  ping: () => '{}',
  'resources/list': listPage,
  'resources/templates/list': () => '{"resourceTemplates":[]}',
};

function listPage(number, params) {
  const { size } = servers[number];
  const from = Number(params?.cursor ?? 0);
  const to = Math.min(from + perPage, size);
  const texts = Array.from({ length: to - from }, (_, index) => listedText(overlap, number, from + index));
  const cursor = to < size ? `,"nextCursor":"${to}"` : '';
  return `{"resources":[${texts.join(',')}]${cursor}}`;
}

const server = createServer((request, response) => {
  const [, number, action] = request.url.split('/');
  const { streams } = servers[number];
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    streams.add(response);
    response.once('close', () => streams.delete(response));
    return;
  }
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    if (action === 'add') {
      servers[number].size++;
      for (const stream of streams)
        stream.write('data: {"jsonrpc":"2.0","method":"notifications/resources/list_changed"}\n\n');
      return reply(response, 200);
    }
    if (request.method === 'DELETE') return reply(response, 200);
    return answer(number, response, JSON.parse(Buffer.concat(chunks).toString()));
  });
});

function answer(number, response, { id, method, params }) {
  if (id === undefined) return reply(response, 202);
  const result = methods[method]?.(Number(number), params);
  const outcome = result ? `"result":${result}` : `"error":{"code":-32601,"message":"Method not found"}`;
  const headers = { 'content-type': 'application/json', 'mcp-session-id': `session-${number}` };
  return reply(response, 200, headers, `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${outcome}}`);
}

function reply(response, status, headers = {}, body = '') {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  console.log(`resource backend listens on http://127.0.0.1:${server.address().port}`);
});
