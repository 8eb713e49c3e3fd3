// node server.mjs http [port]: the reference server of revision 2026-07-28, with what the one on the SDK of the gateway offers.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { handlers, OFFER, question, shared, text, toolList } from '../node/offer.mjs';

const [, port = '0'] = process.argv.slice(2);
const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: {},
  logging: {},
};

/** The tools that the server of 2025 implements with its own methods. */
const modernHandlers = {
  log: async (args, { mcpReq }) => {
    await mcpReq.log('info', args.text);
    return text('logged');
  },
  ask: (args, { mcpReq }) => {
    const { answer } = mcpReq.inputResponses ?? {};
    if (answer) return text(`${answer.action}:${answer.content?.answer}`);
    return inputRequired({ inputRequests: { answer: inputRequired.elicit(question(args.question)) } });
  },
  touch: ({ uri }) => {
    mcp.notify.resourceUpdated(uri);
    return text('touched');
  },
  grow: () => {
    shared.hasExtra = !shared.hasExtra;
    mcp.notify.toolsChanged();
    return text(shared.hasExtra);
  },
};

async function callTool({ params }, context) {
  const { mcpReq } = context;
  const { _meta: meta } = mcpReq;
  const handler = modernHandlers[params.name] ?? handlers[params.name];
  if (!handler) return { isError: true, ...text(`unknown tool ${params.name}`) };
  return handler(params.arguments ?? {}, {
    mcpReq,
    signal: mcpReq.signal,
    progressToken: meta?.progressToken,
    sendNotification: (notification) => mcpReq.notify(notification),
  });
}

function newServer() {
  const product = new McpServer({ name: 'interop-node-2', version: '1.0.0' }, { capabilities });
  const { server } = product;
  server.setRequestHandler('tools/list', () => ({ tools: toolList() }));
  server.setRequestHandler('tools/call', callTool);
  server.setRequestHandler('resources/list', () => ({ resources: OFFER.resources }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: OFFER.templates }));
  server.setRequestHandler('resources/read', ({ params }) => OFFER.contentsOf(params.uri));
  server.setRequestHandler('prompts/list', () => ({ prompts: OFFER.prompts }));
  server.setRequestHandler('prompts/get', ({ params }) => OFFER.greeting(params.arguments));
  return product;
}

const mcp = createMcpHandler(newServer);
const handle = toNodeHandler(mcp);
const listener = createServer((request, response) => void handle(request, response));
listener.listen(Number(port), '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${listener.address().port}/mcp`),
);
