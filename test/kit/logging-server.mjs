// An SDK server over stdio whose tools log the argument `name` during the call, right after the response, or 30 ms later.
import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

const TIMER_MS = 30;

const server = new Server(
  { name: 'logging', version: '1' },
  { capabilities: { tools: {}, logging: {} }, enforceStrictCapabilities: false },
);

const log = (name) =>
  server.notification({ method: 'notifications/message', params: { level: 'error', data: name } });

const text = (value) => ({ content: [{ type: 'text', text: value }] });

async function logAfter(waited, name) {
  await waited;
  await log(name);
}

const tools = {
  async during(name) {
    await log(name);
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
    const { content } = await server.request(
      { method: 'elicitation/create', params: { message: 'Your name?', requestedSchema } },
      ElicitResultSchema,
    );
    const { model } = await server.request(
      { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
      CreateMessageResultSchema,
    );
    await log(name);
    return text(`${String(content.name)} ${model}`);
  },
  after(name) {
    void logAfter(nextIteration(), name);
    return text('done');
  },
  timer(name) {
    void logAfter(sleep(TIMER_MS), name);
    return text('done');
  },
};

const inputSchema = { type: 'object', properties: { name: { type: 'string' } } };
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: Object.keys(tools).map((name) => ({ name, inputSchema })),
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => tools[params.name](params.arguments.name));
await server.connect(new StdioServerTransport());
