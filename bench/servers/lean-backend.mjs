// An MCP server over Streamable HTTP with the least possible work per request: the target `direct`.
// Arguments: the number of tools (200), and `hang` to leave every tools/call unanswered
// or the time in milliseconds that a tools/call takes.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { toolsOf } from '../harness/tools.mjs';

const TOOLS = toolsOf(Number(process.argv[2] ?? 200));
const hangs = process.argv[3] === 'hang';
const delayMs = Number(process.argv[3]) || 0;
const PAGE = 1000;
const LARGE = 'x'.repeat(1_048_576);
const sessions = new Set();

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, resources: {} },
    serverInfo: { name: 'lean-backend', version: '1.0.0' },
  }),
  ping: () => ({}),
  // Serialised again for every request, as servers do.
  'tools/list': ({ cursor = '0' } = {}) => {
    const end = Number(cursor) + PAGE;
    return {
      tools: TOOLS.slice(Number(cursor), end),
      ...(end < TOOLS.length && { nextCursor: String(end) }),
    };
  },
  'tools/call': ({ arguments: { message } }) => ({ content: [{ type: 'text', text: message }] }),
  'resources/list': () => ({ resources: [{ uri: 'bench://large', name: 'large' }] }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, mimeType: 'text/plain', text: LARGE }] }),
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
  if (hangs && method === 'tools/call') return undefined;
  const result = methods[method]?.(params);
  const outcome = result ? { result } : { error: { code: -32601, message: `Method not found: ${method}` } };
  const body = JSON.stringify({ jsonrpc: '2.0', id, ...outcome });
  if (delayMs > 0 && method === 'tools/call')
    return setTimeout(() => reply(response, 200, headers, body), delayMs);
  return reply(response, 200, headers, body);
}

function reply(response, status, headers = {}, body = '') {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  console.log(`lean backend listens on http://127.0.0.1:${server.address().port}/mcp`);
});
