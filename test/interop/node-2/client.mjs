// Client on the TypeScript SDK 2.x: commands and events as JSON lines, see ../README.md.
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const write = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const calls = new Map();
let client;
let transport;
let subscription;

const textOf = (parts) => parts.map((part) => part.text ?? '').join('');

async function connect({ url, answer, era }) {
  client = new Client(
    { name: 'interop-node-2', version: '1.0.0' },
    {
      capabilities: { elicitation: {} },
      versionNegotiation: { mode: era === '2026' ? 'auto' : 'legacy' },
    },
  );
  const on = (method, toEvent) =>
    client.setNotificationHandler(method, ({ params }) => write(toEvent(params)));
  on('notifications/resources/updated', ({ uri }) => ({ event: 'updated', uri }));
  on('notifications/tools/list_changed', () => ({ event: 'toolsChanged' }));
  on('notifications/message', ({ data }) => ({ event: 'log', data }));
  client.setRequestHandler('elicitation/create', ({ params }) => {
    write({ event: 'elicit', message: params.message });
    return { action: 'accept', content: { answer } };
  });
  transport = new StreamableHTTPClientTransport(new URL(url), {
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 1000,
      reconnectionDelayGrowFactor: 1.5,
      maxRetries: 10,
    },
  });
  await client.connect(transport);
  return { server: client.getServerVersion().name, protocol: client.getNegotiatedProtocolVersion() };
}

async function call({ id, name, arguments: args, progress, level }) {
  const controller = new AbortController();
  calls.set(id, controller);
  try {
    const meta = level && { _meta: { 'io.modelcontextprotocol/logLevel': level } };
    const result = await client.callTool(
      { name, arguments: args, ...meta },
      {
        signal: controller.signal,
        ...(progress && {
          onprogress: (one) => write({ event: 'progress', call: id, progress: one.progress }),
        }),
      },
    );
    return {
      text: textOf(result.content),
      structured: result.structuredContent ?? null,
      isError: result.isError ?? false,
    };
  } finally {
    calls.delete(id);
  }
}

async function listen({ uris = [], tools = false }) {
  const opened = await client.listen({
    ...(tools && { toolsListChanged: true }),
    ...(uris.length > 0 && { resourceSubscriptions: uris }),
  });
  subscription = opened;
  void opened.closed.then((how) => write({ event: 'listenEnded', withResult: how === 'graceful' }));
}

const operations = {
  connect,
  call,
  listen,
  unlisten: () => subscription.close(),
  cancel: ({ call: id }) => calls.get(id)?.abort('cancelled'),
  tools: async () => ({ names: (await client.listTools()).tools.map(({ name }) => name) }),
  resources: async () => ({ names: (await client.listResources()).resources.map(({ uri }) => uri) }),
  templates: async () => ({
    names: (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
  }),
  prompts: async () => ({ names: (await client.listPrompts()).prompts.map(({ name }) => name) }),
  read: async ({ uri }) => ({ text: textOf((await client.readResource({ uri })).contents) }),
  prompt: async ({ name, arguments: args }) => {
    const { messages } = await client.getPrompt({ name, arguments: args });
    return { text: textOf(messages.map(({ content }) => content)) };
  },
  subscribe: ({ uri }) => client.subscribeResource({ uri }),
  unsubscribe: ({ uri }) => client.unsubscribeResource({ uri }),
  level: ({ level }) => client.setLoggingLevel(level),
  ping: () => client.ping(),
  disconnect: async () => {
    await transport.terminateSession();
    await client.close();
  },
};

async function run(command) {
  try {
    write({ id: command.id, result: (await operations[command.op](command)) ?? {} });
  } catch (error) {
    write({ id: command.id, error: String(error) });
  }
}

createInterface({ input: process.stdin })
  .on('line', (line) => void run(JSON.parse(line)))
  .on('close', () => process.exit(0));
