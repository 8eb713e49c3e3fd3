// An MCP server of revision 2026-07-28 with the least possible work per request: it has no sessions and does not notify.
import { createServer } from 'node:http';
import { TOOLS } from '../harness/tools.mjs';

const REVISION = '2026-07-28';
const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';
const CACHE = { ttlMs: 0, cacheScope: 'private' };

const methods = {
  'server/discover': () => ({ ...CACHE, supportedVersions: [REVISION], capabilities: { tools: {} } }),
  'tools/list': () => ({ ...CACHE, tools: TOOLS }),
  'tools/call': ({ arguments: { message } }) => ({ content: [{ type: 'text', text: message }] }),
};

function answer(request, { id, method, params }) {
  const { _meta: meta } = params ?? {};
  if (meta?.[PROTOCOL_VERSION] !== REVISION || request.headers['mcp-method'] !== method)
    return { status: 400, body: { jsonrpc: '2.0', id, error: { code: -32602, message: 'no envelope' } } };
  const result = methods[method]?.(params);
  return result
    ? { status: 200, body: { jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } } }
    : { status: 404, body: { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } } };
}

const server = createServer((request, response) => {
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const { status, body } = answer(request, JSON.parse(Buffer.concat(chunks).toString()));
    const text = JSON.stringify(body);
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    response.writeHead(status, headers).end(text);
  });
});

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  console.log(`lean modern backend listens on http://127.0.0.1:${server.address().port}/mcp`);
});
