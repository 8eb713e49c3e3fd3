// An MCP server whose results have the shape that the caller asks for. Argument: how it answers, `json`, `events` or `stdio`.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { resourceLinks, SHAPES } from '../harness/json-shapes.mjs';

/** Time in which the gateway forwards a request to the client. */
const FORWARD_MS = 500;
const mode = process.argv[2] ?? 'json';

const methods = {
  initialize: ({ protocolVersion }) =>
    JSON.stringify({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'message-backend', version: '1.0.0' },
    }),
  ping: () => '{}',
  'tools/list': () => '{"tools":[{"name":"shape","inputSchema":{"type":"object"}}]}',
  'tools/call': ({ arguments: { shape, bytes, links, as } = {} }) => {
    if (as === 'request') return '{"content":[]}';
    if (links) return `{"content":${resourceLinks(links)},"isError":false}`;
    if (!shape) return '{"content":[]}';
    return `{"content":[],"structuredContent":{"value":${SHAPES[shape](bytes)}},"isError":false}`;
  },
};

/** The response to a message; undefined for a notification. */
function answer(text) {
  const { id, method, params } = JSON.parse(text);
  if (id === undefined || method === undefined) return undefined;
  const { shape, bytes, as } = params?.arguments ?? {};
  if (as === 'error')
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32000,"message":"failed","data":${SHAPES[shape](bytes)}}}`;
  const result = methods[method]?.(params);
  return result
    ? `{"jsonrpc":"2.0","result":${result},"id":${JSON.stringify(id)}}`
    : JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: `Method not found: ${method}` } });
}

/** A progress notification or a request to the client, if the request asks for one. */
function eventFor(text) {
  const { params } = JSON.parse(text);
  const { shape, bytes, as } = params?.arguments ?? {};
  if (as === 'request')
    return `data: {"jsonrpc":"2.0","id":99,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"value":${SHAPES[shape](bytes)}}}\n\n`;
  if (!params?.arguments?.progress) return '';
  const { _meta: meta } = params;
  const notification = {
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken: meta.progressToken, progress: 1 },
  };
  return `data: ${JSON.stringify(notification)}\n\n`;
}

function respond(response, text, request) {
  if (!text) response.writeHead(202).end();
  else if (mode === 'events') {
    const event = eventFor(request);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event);
    // A request to the client that is not forwarded before the result would be cancelled.
    setTimeout(
      () => response.end(`data: ${text}\n\n`),
      event.startsWith('data: {"jsonrpc":"2.0","id"') ? FORWARD_MS : 0,
    );
  } else response.writeHead(200, { 'content-type': 'application/json' }).end(text);
}

if (mode === 'stdio') {
  createInterface({ input: process.stdin }).on('line', (line) => {
    const response = answer(line);
    if (response) process.stdout.write(`${response}\n`);
  });
} else {
  const server = createServer((request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      respond(response, answer(text), text);
    });
  });
  server.listen(0, '127.0.0.1', () => {
    console.log(`message backend listens on http://127.0.0.1:${server.address().port}/mcp`);
  });
}
