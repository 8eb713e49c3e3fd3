import * as fc from 'fast-check';
import { ScriptedServer, ScriptedError, text } from './scripted-server/scripted-server.js';

export const SIDES = ['x', 'y'] as const;
export type SideName = (typeof SIDES)[number];
export const otherOf = (side: SideName): SideName => (side === 'x' ? 'y' : 'x');

export const TOOLS = ['echo', 'fail', 'talk', 'ask', 'break'];
export const PROMPT = 'greet';
export const META_TOOLS = [
  'catalog_resources',
  'describe_resource',
  'search_resources',
  'catalog_resource_templates',
  'catalog_tools',
  'describe_tool',
  'search_tools',
];
const SERVERS = ['x-http', 'x-stdio', 'y-http', 'y-stdio', 'common', 'none'];

const METHODS = [
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
];

const anyName = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.constantFrom('', ...SERVERS.map((server) => `${server}__`)),
        fc.constantFrom(...TOOLS, PROMPT, 'added_x', 'added_y', '__proto__'),
      )
      .map((parts) => parts.join('')),
  },
  fc.constantFrom(...META_TOOLS),
);

/** URIs of every server in every public form. */
const anyUri = fc
  .tuple(
    fc.constantFrom('resource://', 'ui://', '', 'id'),
    fc.constantFrom(...SERVERS),
    fc.constantFrom('x://doc', 'x://fail', 'x://t/1', 'x://t/{a}', 'x://added_x', 'x://added_y', 'x://nope'),
  )
  .map(([form, server, own]) => {
    if (form === 'id') return `${server}_x___${own.slice(4).replaceAll('/', '_')}`;
    return form === '' ? own : `${form}${server}/${own}`;
  });

const project = fc.constantFrom('x', 'y', 'common', 'nope', '', '*');
const side = fc.constantFrom(...SIDES);
const rarely = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, value);

/** Any request of a client; ids and cursors are those of the side `of`. */
export const attempt = fc.record({
  side,
  client: fc.nat(1),
  of: side,
  verb: fc.oneof({ weight: 12, arbitrary: fc.constant('POST') }, fc.constantFrom('GET', 'DELETE')),
  path: fc.oneof(
    { weight: 5, arbitrary: fc.constant('/mcp') },
    fc.constantFrom('/projects/x/mcp', '/projects/y/mcp', '/projects/nope/mcp'),
  ),
  header: rarely(project),
  takesSession: fc.boolean(),
  method: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...METHODS) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        'tools/call',
        'tools/list',
        'prompts/get',
        'completion/complete',
        'resources/list',
        'resources/templates/list',
        'resources/read',
        'resources/subscribe',
      ),
    },
  ),
  name: anyName,
  uri: anyUri,
  serverId: rarely(fc.constantFrom(...SERVERS)),
  refType: fc.constantFrom('ref/prompt', 'ref/resource'),
  cursor: rarely(fc.nat(50)),
  meta: rarely(fc.record({ projectId: rarely(project), 'io.gatehouse/projectId': rarely(project) })),
  progressToken: rarely(fc.nat(3)),
  id: fc.nat(9),
  isAnswer: fc.nat(9).map((roll) => roll === 0),
});
export type Attempt = typeof attempt extends fc.Arbitrary<infer T> ? T : never;

/** A notification of a server of one side. */
export const event = fc.record({ side, transport: fc.constantFrom('http', 'stdio'), what: fc.nat(5) });
export type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

/** A server with a tool or resource for every kind of message, and the canary in each of them. */
export async function canaryServer(canary: string): Promise<ScriptedServer> {
  const server = await ScriptedServer.start();
  const define = (name: string): string =>
    JSON.stringify({
      name,
      title: canary,
      description: canary,
      inputSchema: { type: 'object', properties: { [canary]: { description: canary } } },
      _meta: { canary },
    });
  const canaryResult = (value: unknown): object => ({
    ...text(`${canary} ${JSON.stringify(value)}`),
    structuredContent: { canary },
    _meta: { canary },
  });
  const resource = (keys: object): string =>
    JSON.stringify({ ...keys, name: canary, title: canary, description: canary, _meta: { canary } });
  const read = (uri: string, value: unknown): object => ({
    contents: [{ uri, mimeType: 'text/plain', text: `${canary} ${JSON.stringify(value)}` }],
    _meta: { canary },
  });
  return server
    .on('resources/subscribe', () => ({}))
    .on('resources/unsubscribe', () => ({}))
    .tool('echo', (call) => canaryResult(call.params), define('echo'))
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
        return canaryResult(call.params);
      },
      define('talk'),
    )
    .tool(
      'ask',
      (call) => {
        void call.sendRequest('sampling/createMessage', { messages: [], systemPrompt: canary, maxTokens: 1 });
        return canaryResult('asked');
      },
      define('ask'),
    )
    .tool('break', () => ({ ...canaryResult('broken'), isError: true }), define('break'))
    .prompt(
      'greet',
      (call) => ({ description: canary, messages: [{ role: 'user', content: canaryResult(call.params) }] }),
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
