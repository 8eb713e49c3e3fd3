// An MCP server over Streamable HTTP that does no more than it must: its speed is what `direct` means.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { TOOLS } from './tools.mjs';

const sessions = new Set();

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'lean-backend', version: '1.0.0' },
  }),
  ping: () => ({}),
  // Serialised anew for every request, as servers do.
  'tools/list': () => ({ tools: TOOLS }),
  'tools/call': ({ arguments: { message } }) => ({ content: [{ type: 'text', text: message }] }),
};

const server = createServer((request, response) => {
  if (request.method === 'GET') return reply(response, 405);
  if (request.method === 'DELETE') {
    sessions.delete(request.headers['mcp-session-id']);
    return reply(response, 200);
  }
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => answer(request, response, JSON.parse(Buffer.concat(chunks).toString())));
});

function answer(request, response, { id, method, params }) {
  const headers = { 'content-type': 'application/json' };
  if (method === 'initialize') {
    headers['mcp-session-id'] = randomUUID();
    sessions.add(headers['mcp-session-id']);
  } else if (!sessions.has(request.headers['mcp-session-id'])) {
    return reply(response, 404);
  }
  if (id === undefined) return reply(response, 202);
  const result = methods[method]?.(params);
  const outcome = result ? { result } : { error: { code: -32601, message: `Method not found: ${method}` } };
  return reply(response, 200, headers, JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
}

function reply(response, status, headers = {}, body = '') {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  console.log(`lean backend listens on http://127.0.0.1:${server.address().port}/mcp`);
});
