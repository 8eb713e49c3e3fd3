import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Events } from '../kit/events.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawSession } from '../kit/raw-session.js';
import { ScriptedBackend } from '../kit/scripted-backend.js';
import { contents } from '../kit/scripted-resources.js';
import { until } from '../kit/until.js';

const RESOURCES_CHANGED = 'notifications/resources/list_changed';
const PROMPTS_CHANGED = 'notifications/prompts/list_changed';

/** Who listens: a client that sees both servers, and one of a project that sees only one, each way. */
const PATHS = ['/mcp', '/projects/one/mcp', '/projects/two/mcp'];

describe('a change of the resources of a server', () => {
  let one: ScriptedBackend;
  let two: ScriptedBackend;
  let gateway: Gateway;
  let sessions: RawSession[];
  let streams: Events[];
  let lastPrompt = 0;

  beforeAll(async () => {
    [one, two] = await Promise.all([ScriptedBackend.start(), ScriptedBackend.start()]);
    for (const backend of [one, two])
      backend
        .resource('x://first')
        .template('x://t/{a}')
        .prompt('p', () => ({ messages: [] }));
    gateway = await startGateway({
      mcpServers: { one: one.http, two: two.stdio() },
      projects: { one: { servers: ['one'] }, two: { servers: ['two'] } },
    });
    const both = ['one', 'two'];
    await gateway.listed({ resources: both, resourceTemplates: both, prompts: both });
    sessions = await Promise.all(PATHS.map((path) => RawSession.open(gateway.urlOf(path))));
    streams = await Promise.all(sessions.map((session) => session.listen()));
  }, 30_000);

  const told = (method = RESOURCES_CHANGED): number[] => streams.map((stream) => stream.count(method));

  /** Another list of both servers changes after whatever was on its way; once that is heard, nothing more will come. */
  async function settle(): Promise<void> {
    const before = told(PROMPTS_CHANGED);
    for (const backend of [one, two]) {
      backend.prompt(`prompt-${++lastPrompt}`, () => ({ messages: [] }));
      backend.announce(PROMPTS_CHANGED);
    }
    await until('every client heard of the prompts', () =>
      told(PROMPTS_CHANGED).every((count, index) => count > before[index]!),
    );
  }

  const uris = async (session = sessions[0]!): Promise<(string | undefined)[]> =>
    (await session.list('resources')).map(({ uri }) => uri);

  it.each([
    ['one', [1, 1, 0]],
    ['two', [1, 0, 1]],
  ])('is fetched, listed and told once to exactly the clients that see it (%s)', async (server, expected) => {
    const backend = server === 'one' ? one : two;
    const [before, asked] = [told(), backend.countOf('resources/list')];
    backend.resource('x://second');
    backend.announce(RESOURCES_CHANGED);
    const uri = `resource://${server}/x://second`;
    await until('it is listed', async () => (await uris()).includes(uri));
    await settle();
    expect(told().map((count, index) => count - before[index]!)).toEqual(expected);
    expect(backend.countOf('resources/list') - asked).toBe(1);
    for (const [index, session] of sessions.entries()) {
      expect((await uris(session)).includes(uri)).toBe(expected[index] === 1);
      const { result } = await session.read(uri);
      expect(result).toEqual(expected[index] === 1 ? contents(uri, 'read x://second') : undefined);
    }
  });

  it('may be one of its templates', async () => {
    const before = told();
    two.template('x://other/{b}');
    two.announce(RESOURCES_CHANGED);
    const uri = 'resource://two/x://other/7';
    await until('it can be read', async () => (await sessions[0]!.read(uri)).result !== undefined);
    await settle();
    expect(told().map((count, index) => count - before[index]!)).toEqual([1, 0, 1]);
    const templates = (await sessions[2]!.list('resourceTemplates')).map(({ uriTemplate }) => uriTemplate);
    expect(templates).toEqual(['resource://two/x://other/{b}', 'resource://two/x://t/{a}']);
  });

  it('is not told when the list turns out to be the same', async () => {
    const [before, asked] = [told(), one.countOf('resources/list')];
    one.announce(RESOURCES_CHANGED);
    await until('the gateway asked again', () => one.countOf('resources/list') > asked);
    await settle();
    expect(told()).toEqual(before);
  });

  it('is taken as one when a server announces it again and again', async () => {
    const [before, asked] = [told(), one.countOf('resources/list')];
    one.resource('x://third');
    for (let turn = 0; turn < 100; turn++) one.announce(RESOURCES_CHANGED);
    await until('it is listed', async () => (await uris()).includes('resource://one/x://third'));
    await settle();
    expect(told().map((count, index) => count - before[index]!)).toEqual([1, 1, 0]);
    expect(one.countOf('resources/list') - asked).toBeLessThanOrEqual(2);
  });

  it('makes what is withdrawn unknown at once: it is not read any more', async () => {
    const uri = 'resource://one/x://third';
    one.withoutResource('x://third');
    one.announce(RESOURCES_CHANGED);
    await until('it is gone', async () => !(await uris()).includes(uri));
    const asked = one.countOf('resources/read');
    expect((await sessions[0]!.read(uri)).error).toMatchObject({ code: -32002, data: { uri } });
    expect(one.countOf('resources/read')).toBe(asked);
  });

  it('keeps the last good list when it cannot be fetched, and is fetched again', async () => {
    const before = await uris();
    const from = gateway.logs.length;
    one.on('resources/list', () => {
      throw new Error('not now');
    });
    one.announce(RESOURCES_CHANGED);
    await gateway.logged({ level: 'warn', message: 'resources/list failed', server: 'one' }, from);
    expect(await uris()).toEqual(before);
    one.on('resources/list', () => ({ resources: [{ uri: 'x://recovered', name: 'r' }] }));
    one.announce(RESOURCES_CHANGED);
    await until('the new list is there', async () => (await uris()).includes('resource://one/x://recovered'));
  });
});
