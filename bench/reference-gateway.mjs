// A gateway as it is usually written: the SDK's server transport to each client, its client transport to the server.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const info = { name: 'reference-gateway', version: '1.0.0' };
const upstream = new Client(info);
await upstream.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));

const transports = new Map();

async function openSession() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => transports.set(id, transport),
    onsessionclosed: (id) => transports.delete(id),
  });
  const server = new Server(info, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => upstream.listTools(params));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => upstream.callTool(params));
  await server.connect(transport);
  return transport;
}

const server = createServer((request, response) => {
  handle(request, response).catch(() => response.destroy());
});

async function handle(request, response) {
  const id = request.headers['mcp-session-id'];
  const transport = id === undefined ? await openSession() : transports.get(id);
  if (transport) await transport.handleRequest(request, response);
  else response.writeHead(404).end();
}

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  console.log(`reference gateway listens on http://127.0.0.1:${server.address().port}/mcp`);
});
