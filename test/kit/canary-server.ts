import { ScriptedServer, ScriptedError, text } from './scripted-server/scripted-server.js';

/** A server with a tool and a resource for every way in which it can say something, and the canary in all it says. */
export async function canaryServer(canary: string): Promise<ScriptedServer> {
  const backend = await ScriptedServer.start();
  const define = (name: string): string =>
    JSON.stringify({
      name,
      title: canary,
      description: canary,
      inputSchema: { type: 'object', properties: { [canary]: { description: canary } } },
      _meta: { canary },
    });
  const said = (words: unknown): object => ({
    ...text(`${canary} ${JSON.stringify(words)}`),
    structuredContent: { canary },
    _meta: { canary },
  });
  const resource = (keys: object): string =>
    JSON.stringify({ ...keys, name: canary, title: canary, description: canary, _meta: { canary } });
  const read = (uri: string, words: unknown): object => ({
    contents: [{ uri, mimeType: 'text/plain', text: `${canary} ${JSON.stringify(words)}` }],
    _meta: { canary },
  });
  return backend
    .on('resources/subscribe', () => ({}))
    .on('resources/unsubscribe', () => ({}))
    .tool('echo', (call) => said(call.params), define('echo'))
    .tool(
      'fail',
      () => {
        throw new ScriptedError(JSON.stringify({ code: -32050, message: canary, data: { canary } }));
      },
      define('fail'),
    )
    .tool(
      'talk',
      async (call) => {
        const token = (call.params['_meta'] as { progressToken?: unknown } | undefined)?.progressToken;
        if (token !== undefined)
          call.notify('notifications/progress', { progressToken: token, progress: 1, message: canary });
        call.notify('notifications/message', { level: 'error', data: [canary, call.params] });
        await new Promise((resolve) => setTimeout(resolve, 3));
        return said(call.params);
      },
      define('talk'),
    )
    .tool(
      'ask',
      (call) => {
        void call.sendRequest('sampling/createMessage', { messages: [], systemPrompt: canary, maxTokens: 1 });
        return said('asked');
      },
      define('ask'),
    )
    .tool('break', () => ({ ...said('broken'), isError: true }), define('break'))
    .prompt(
      'greet',
      (call) => ({ description: canary, messages: [{ role: 'user', content: said(call.params) }] }),
      define('greet'),
    )
    .resource('x://doc', (call) => read('x://doc', call.params), resource({ uri: 'x://doc' }))
    .resource(
      'x://fail',
      () => {
        throw new ScriptedError(JSON.stringify({ code: -32051, message: canary, data: { canary } }));
      },
      resource({ uri: 'x://fail' }),
    )
    .template('x://t/{a}', resource({ uriTemplate: 'x://t/{a}' }))
    .on('completion/complete', (call) => ({ completion: { values: [canary, JSON.stringify(call.params)] } }))
    .on('initialize', () => ({
      protocolVersion: '2025-11-25',
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        logging: {},
        completions: {},
      },
      serverInfo: { name: canary, version: canary },
      instructions: canary,
    }));
}
