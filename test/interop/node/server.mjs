// node server.mjs stdio | http | json | stateless [port]: the reference server, on the SDK that the gateway itself uses.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { handlers, OFFER, shared, toolList } from './offer.mjs';

const [mode, port = '0'] = process.argv.slice(2);
const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: {},
  logging: {},
};

function newSession() {
  const server = new Server({ name: 'interop-node', version: '1.0.0' }, { capabilities });
  const session = { server, uris: new Set() };
  const on = (schema, handler) => server.setRequestHandler(schema, handler);
  on(types.ListToolsRequestSchema, () => ({ tools: toolList() }));
  on(types.CallToolRequestSchema, ({ params }, extra) => {
    const handler = handlers[params.name];
    if (!handler) throw new types.McpError(types.ErrorCode.InvalidParams, `unknown tool ${params.name}`);
    const { progressToken } = params['_meta'] ?? {};
    return handler(params.arguments ?? {}, {
      ...extra,
      progressToken,
      clientCapabilities: server.getClientCapabilities() ?? {},
      resultSchema: types.ElicitResultSchema,
    });
  });
  on(types.ListResourcesRequestSchema, () => ({ resources: OFFER.resources }));
  on(types.ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: OFFER.templates }));
  on(types.ReadResourceRequestSchema, ({ params: { uri } }) => OFFER.contentsOf(uri));
  on(types.SubscribeRequestSchema, ({ params: { uri } }) => {
    session.uris.add(uri);
    return {};
  });
  on(types.UnsubscribeRequestSchema, ({ params: { uri } }) => {
    session.uris.delete(uri);
    return {};
  });
  on(types.ListPromptsRequestSchema, () => ({ prompts: OFFER.prompts }));
  on(types.GetPromptRequestSchema, ({ params }) => OFFER.greeting(params.arguments));
  shared.sessions.add(session);
  server.onclose = () => shared.sessions.delete(session);
  return server;
}

const transports = new Map();

async function openTransport() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: mode === 'stateless' ? undefined : randomUUID,
    enableJsonResponse: mode !== 'http',
    onsessioninitialized: (id) => transports.set(id, transport),
    onsessionclosed: (id) => transports.delete(id),
  });
  await newSession().connect(transport);
  return transport;
}

async function handle(request, response) {
  const id = request.headers['mcp-session-id'];
  const opens = id === undefined || mode === 'stateless';
  const transport = opens ? await openTransport() : transports.get(id);
  // Servers without a notification stream answer GET with 405.
  if (mode !== 'http' && request.method !== 'POST') response.writeHead(405).end();
  else if (transport) await transport.handleRequest(request, response);
  else response.writeHead(404).end();
}

if (mode === 'stdio') await newSession().connect(new StdioServerTransport());
else {
  const listener = createServer((request, response) => void handle(request, response));
  listener.listen(Number(port), '127.0.0.1', () =>
    console.log(`http://127.0.0.1:${listener.address().port}/mcp`),
  );
}
