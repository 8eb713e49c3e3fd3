import * as fc from 'fast-check';

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

const name = fc.oneof(
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

/** In every form that a URI may have, of every server. */
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
const seldom = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, value);

/** Anything a client may try; `of` is where it has ids and cursors from. */
export const attempt = fc.record({
  side,
  client: fc.nat(1),
  of: side,
  verb: fc.oneof({ weight: 12, arbitrary: fc.constant('POST') }, fc.constantFrom('GET', 'DELETE')),
  path: fc.oneof(
    { weight: 5, arbitrary: fc.constant('/mcp') },
    fc.constantFrom('/projects/x/mcp', '/projects/y/mcp', '/projects/nope/mcp'),
  ),
  header: seldom(project),
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
  name,
  uri: anyUri,
  serverId: seldom(fc.constantFrom(...SERVERS)),
  refType: fc.constantFrom('ref/prompt', 'ref/resource'),
  cursor: seldom(fc.nat(50)),
  meta: seldom(fc.record({ projectId: seldom(project), 'io.gatehouse/projectId': seldom(project) })),
  progressToken: seldom(fc.nat(3)),
  id: fc.nat(9),
  isAnswer: fc.nat(9).map((roll) => roll === 0),
});
export type Attempt = typeof attempt extends fc.Arbitrary<infer T> ? T : never;

/** What the servers of a side do unasked. */
export const event = fc.record({ side, transport: fc.constantFrom('http', 'stdio'), what: fc.nat(5) });
export type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;
