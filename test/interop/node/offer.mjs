// What every server program of this suite offers; the programs of the other languages have the same names.
export const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
const object = (properties) => ({ type: 'object', properties, required: Object.keys(properties) });
const string = { type: 'string' };
const number = { type: 'number' };

export const TOOLS = {
  echo: object({ text: string }),
  sum: object({ a: number, b: number }),
  log: object({ text: string }),
  progress: object({ steps: number }),
  slow: object({ ms: number }),
  cancelled: object({}),
  capabilities: object({}),
  ask: object({ question: string }),
  touch: object({ uri: string }),
  grow: object({}),
};
const OUTPUT = { sum: object({ sum: number }) };

/** What is not a tool. */
export const OFFER = {
  resources: [{ uri: 'note://one', name: 'one' }],
  templates: [{ uriTemplate: 'note://{name}', name: 'note' }],
  contentsOf: (uri) => ({ contents: [{ uri, mimeType: 'text/plain', text: `content of ${uri}` }] }),
  prompts: [{ name: 'greet', arguments: [{ name: 'name', required: true }] }],
  greeting: (args) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Hello ${args?.name}` } }],
  }),
};

/** The params of the elicitation of the tool `ask`. */
export const question = (message) => ({ message, requestedSchema: object({ answer: string }) });

/** What all sessions of one server process share. */
export const shared = { sessions: new Set(), cancelled: 0, hasExtra: process.env.INTEROP_EXTRA === '1' };

export function toolList() {
  const tools = shared.hasExtra ? { ...TOOLS, extra: object({}) } : TOOLS;
  return Object.entries(tools).map(([name, inputSchema]) => ({
    name,
    inputSchema,
    ...(OUTPUT[name] && { outputSchema: OUTPUT[name] }),
  }));
}

/** Resolves after the time, or rejects when the client cancels the call. */
const wait = (ms, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new Error('cancelled'));
    });
  });

const notifyAll = (notification, isWanted = () => true) =>
  Promise.all([...shared.sessions].filter(isWanted).map(({ server }) => server.notification(notification)));

/** The tools by name, with their arguments and the SDK's extra parameter. */
export const handlers = {
  echo: (args) => text(args.text),
  sum: ({ a, b }) => ({ ...text(a + b), structuredContent: { sum: a + b } }),
  log: async (args, extra) => {
    await extra.sendNotification({
      method: 'notifications/message',
      params: { level: 'info', data: args.text },
    });
    return text('logged');
  },
  progress: async ({ steps }, extra) => {
    for (let step = 1; step <= steps; step++)
      await extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken: extra.progressToken, progress: step, total: steps },
      });
    return text('done');
  },
  slow: async ({ ms }, extra) => {
    try {
      await wait(ms, extra.signal);
    } catch (error) {
      shared.cancelled += 1;
      throw error;
    }
    return text('slept');
  },
  cancelled: () => text(shared.cancelled),
  capabilities: (_, { clientCapabilities }) => text(Object.keys(clientCapabilities)),
  ask: async (args, extra) => {
    const { action, content } = await extra.sendRequest(
      { method: 'elicitation/create', params: question(args.question) },
      extra.resultSchema,
    );
    return text(`${action}:${content?.answer}`);
  },
  touch: async ({ uri }) => {
    await notifyAll({ method: 'notifications/resources/updated', params: { uri } }, ({ uris }) =>
      uris.has(uri),
    );
    return text('touched');
  },
  grow: async () => {
    shared.hasExtra = !shared.hasExtra;
    await notifyAll({ method: 'notifications/tools/list_changed' });
    return text(shared.hasExtra);
  },
  extra: () => text('extra'),
};
