import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ElicitResultSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

const URI = 'test://doc';
const text = (words) => ({ content: [{ type: 'text', text: words }] });

const QUESTION = {
  method: 'elicitation/create',
  params: {
    message: 'Your name?',
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
  },
};

async function askName({ sendRequest }) {
  const { action, content } = await sendRequest(QUESTION, ElicitResultSchema);
  return text(`${action} ${content?.name}`);
}

/** The state that all sessions share. `notify` has a function for each session that has subscribed. */
export const createState = () => ({ text: 'first', notify: new Set() });

export function sendUpdates(state) {
  for (const notify of state.notify) notify();
}

/** A server of SDK 1.x for one session: a part of the offer of ../modern-server/offer.mjs, in the ways of 2025. */
export function buildServer(state = createState()) {
  const server = new Server(
    { name: 'legacy', version: '1' },
    { capabilities: { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true } } },
  );
  const tools = {
    echo: (args) => text(String(args.text)),
    ask: (_, call) => askName(call),
    pid: () => text(String(process.pid)),
    edit: (args) => {
      state.text = args.text;
      sendUpdates(state);
      return text('edited');
    },
  };
  const inputSchema = { type: 'object', properties: { text: { type: 'string' } } };
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.keys(tools).map((name) => ({ name, inputSchema })),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, call) =>
    tools[params.name](params.arguments ?? {}, call),
  );
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [{ uri: URI, name: 'doc' }] }));
  server.setRequestHandler(ReadResourceRequestSchema, () => ({ contents: [{ uri: URI, text: state.text }] }));
  const notify = () => void server.sendResourceUpdated({ uri: URI });
  server.onclose = () => state.notify.delete(notify);
  server.setRequestHandler(SubscribeRequestSchema, () => (state.notify.add(notify), {}));
  server.setRequestHandler(UnsubscribeRequestSchema, () => (state.notify.delete(notify), {}));
  return server;
}
