import { fromJsonSchema, inputRequired, McpServer } from '@modelcontextprotocol/server';

const text = (words) => ({ content: [{ type: 'text', text: words }] });
const object = (properties = {}) => fromJsonSchema({ type: 'object', properties });
const string = { type: 'string' };

const askName = () =>
  inputRequired({
    inputRequests: {
      name: inputRequired.elicit({
        message: 'Your name?',
        requestedSchema: { type: 'object', properties: { name: string } },
      }),
    },
    requestState: ' state "é\u2028 ',
  });

/** Asks one question of each kind at once. */
const askAll = () =>
  inputRequired({
    inputRequests: {
      roots: inputRequired.listRoots(),
      words: inputRequired.createMessage({
        messages: [{ role: 'user', content: { type: 'text', text: 'Say something' } }],
        maxTokens: 10,
      }),
      page: inputRequired.elicitUrl({ message: 'Open it', url: 'https://example.org/page' }),
    },
  });

/** Reports the steps of one round of input, which begin with 1. */
async function reportSteps(ctx) {
  const { _meta: meta } = ctx.mcpReq;
  const progressToken = meta?.progressToken;
  for (const progress of [1, 2])
    await ctx.mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken, progress, total: 2 },
    });
}

/** Reports progress and ends when it is cancelled, or released by the test. */
async function wait(state, ctx) {
  const { _meta: meta } = ctx.mcpReq;
  const progressToken = meta?.progressToken;
  if (progressToken !== undefined)
    await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
  state.waiting++;
  await new Promise((resolve) => {
    state.release = resolve;
    ctx.mcpReq.signal.addEventListener('abort', () => {
      state.cancelled++;
      resolve();
    });
  });
  return text('released');
}

function addTools(server, state) {
  server.registerTool('echo', { inputSchema: object({ text: string }) }, (args) => text(String(args.text)));
  server.registerTool(
    'route',
    {
      inputSchema: object({
        region: { ...string, 'x-mcp-header': state.regionHeader },
        count: { type: 'integer', 'x-mcp-header': 'Count' },
      }),
    },
    (args) => text(JSON.stringify(args)),
  );
  server.registerTool(
    'numbers',
    { inputSchema: object(), outputSchema: fromJsonSchema({ type: 'array', items: { type: 'number' } }) },
    () => ({ content: [], structuredContent: [1, 2] }),
  );
  server.registerTool('pid', { inputSchema: object() }, () => text(String(process.pid)));
  server.registerTool('wait', { inputSchema: object() }, (_, ctx) => wait(state, ctx));
  server.registerTool('cancelled', { inputSchema: object() }, () => text(String(state.cancelled)));
  server.registerTool('log', { inputSchema: object() }, async (_, ctx) => {
    await ctx.mcpReq.log('info', 'logged by the call');
    return text('logged');
  });
  server.registerTool('envelope', { inputSchema: object() }, (_, ctx) =>
    text(JSON.stringify(ctx.mcpReq.envelope ?? {})),
  );
  server.registerTool('ask', { inputSchema: object() }, (_, ctx) => {
    const { inputResponses } = ctx.mcpReq;
    const { action, content } = inputResponses?.name ?? {};
    if (action === undefined) return askName();
    return text(`${action} ${content?.name} ${JSON.stringify(ctx.mcpReq.requestState())}`);
  });
  server.registerTool('ask-in-steps', { inputSchema: object() }, async (_, ctx) => {
    await reportSteps(ctx);
    return ctx.mcpReq.inputResponses?.name ? text('done') : askName();
  });
  server.registerTool('ask-all', { inputSchema: object() }, (_, ctx) => {
    const { inputResponses } = ctx.mcpReq;
    return inputResponses ? text(JSON.stringify(inputResponses)) : askAll();
  });
  server.registerTool('ask-forever', { inputSchema: object() }, () =>
    inputRequired({ requestState: 'again' }),
  );
  server.registerTool('edit', { inputSchema: object({ text: string }) }, async (args) => {
    state.text = args.text;
    await server.server.sendResourceUpdated({ uri: 'test://doc' });
    return text('edited');
  });
  for (const name of state.extraTools) server.registerTool(name, { inputSchema: object() }, () => text(name));
}

/** The state that the servers of all requests share. */
export const createState = () => ({
  text: 'first',
  regionHeader: 'Region',
  extraTools: [],
  waiting: 0,
  cancelled: 0,
  release: () => {},
});

/** A server with tools, a prompt and a resource, for one request or one process. */
export function buildServer(state = createState()) {
  const server = new McpServer(
    { name: 'modern', version: '2' },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        logging: {},
        completions: {},
      },
      instructions: 'Instructions of the server',
    },
  );
  addTools(server, state);
  server.registerPrompt('ask', { description: 'Asks for a name' }, (ctx) => {
    const { content } = ctx.mcpReq.inputResponses?.name ?? {};
    if (!content) return askName();
    return { messages: [{ role: 'user', content: { type: 'text', text: `I am ${content.name}` } }] };
  });
  server.server.setRequestHandler('completion/complete', ({ params: { ref, argument } }) => ({
    completion: { values: [`${argument.value} of ${ref.name}`] },
  }));
  server.registerPrompt('größe', {}, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'groß' } }],
  }));
  server.registerResource('doc', 'test://doc', { mimeType: 'text/plain' }, () => ({
    contents: [{ uri: 'test://doc', mimeType: 'text/plain', text: state.text }],
  }));
  return server;
}
