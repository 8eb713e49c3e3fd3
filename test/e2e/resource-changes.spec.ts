import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Events } from '../kit/events.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawSession } from '../kit/raw-session.js';
import { ScriptedServer } from '../kit/scripted-server/scripted-server.js';
import { contents } from '../kit/scripted-server/scripted-resources.js';
import { until } from '../kit/until.js';

const RESOURCES_CHANGED = 'notifications/resources/list_changed';
const PROMPTS_CHANGED = 'notifications/prompts/list_changed';

/** One client sees both servers, the others see one server each. */
const PATHS = ['/mcp', '/projects/one/mcp', '/projects/two/mcp'];

describe('a list change of resources', () => {
  let one: ScriptedServer;
  let two: ScriptedServer;
  let gateway: Gateway;
  let sessions: RawSession[];
  let streams: Events[];
  let lastPrompt = 0;

  beforeAll(async () => {
    [one, two] = await Promise.all([ScriptedServer.start(), ScriptedServer.start()]);
    for (const scripted of [one, two])
      scripted
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
  });

  const counts = (method = RESOURCES_CHANGED): number[] => streams.map((stream) => stream.count(method));

  /** Notifications arrive in order: when the list change of prompts arrives, all earlier notifications have arrived. */
  async function drainNotifications(): Promise<void> {
    const before = counts(PROMPTS_CHANGED);
    for (const scripted of [one, two]) {
      scripted.prompt(`prompt-${++lastPrompt}`, () => ({ messages: [] }));
      scripted.broadcast(PROMPTS_CHANGED);
    }
    await until('every client got the list change of prompts', () =>
      counts(PROMPTS_CHANGED).every((count, index) => count > before[index]!),
    );
  }

  const uris = async (session = sessions[0]!): Promise<(string | undefined)[]> =>
    (await session.list('resources')).map(({ uri }) => uri);

  it.each([
    ['one', [1, 1, 0]],
    ['two', [1, 0, 1]],
  ])(
    'is fetched, listed and forwarded once to exactly the clients that see the server (%s)',
    async (server, expected) => {
      const scripted = server === 'one' ? one : two;
      const [before, asked] = [counts(), scripted.countOf('resources/list')];
      scripted.resource('x://second');
      scripted.broadcast(RESOURCES_CHANGED);
      const uri = `resource://${server}/x://second`;
      await until('the resource is listed', async () => (await uris()).includes(uri));
      await drainNotifications();
      expect(counts().map((count, index) => count - before[index]!)).toEqual(expected);
      expect(scripted.countOf('resources/list') - asked).toBe(1);
      for (const [index, session] of sessions.entries()) {
        expect((await uris(session)).includes(uri)).toBe(expected[index] === 1);
        const { result } = await session.read(uri);
        expect(result).toEqual(expected[index] === 1 ? contents(uri, 'read x://second') : undefined);
      }
    },
  );

  it('is forwarded when only the templates changed', async () => {
    const before = counts();
    two.template('x://other/{b}');
    two.broadcast(RESOURCES_CHANGED);
    const uri = 'resource://two/x://other/7';
    await until('the template is known', async () => (await sessions[0]!.read(uri)).result !== undefined);
    await drainNotifications();
    expect(counts().map((count, index) => count - before[index]!)).toEqual([1, 0, 1]);
    const templates = (await sessions[2]!.list('resourceTemplates')).map(({ uriTemplate }) => uriTemplate);
    expect(templates).toEqual(['resource://two/x://other/{b}', 'resource://two/x://t/{a}']);
  });

  it('is not forwarded when the fetched list is the same', async () => {
    const [before, asked] = [counts(), one.countOf('resources/list')];
    one.broadcast(RESOURCES_CHANGED);
    await until('the gateway fetched the list again', () => one.countOf('resources/list') > asked);
    await drainNotifications();
    expect(counts()).toEqual(before);
  });

  it('is forwarded once when a server sends a burst of notifications', async () => {
    const [before, asked] = [counts(), one.countOf('resources/list')];
    one.resource('x://third');
    for (let sent = 0; sent < 100; sent++) one.broadcast(RESOURCES_CHANGED);
    await until('the resource is listed', async () => (await uris()).includes('resource://one/x://third'));
    await drainNotifications();
    expect(counts().map((count, index) => count - before[index]!)).toEqual([1, 1, 0]);
    expect(one.countOf('resources/list') - asked).toBeLessThanOrEqual(2);
  });

  it('makes a removed resource unknown at once, without a read at the server', async () => {
    const uri = 'resource://one/x://third';
    one.withoutResource('x://third');
    one.broadcast(RESOURCES_CHANGED);
    await until('the resource is removed', async () => !(await uris()).includes(uri));
    const asked = one.countOf('resources/read');
    expect((await sessions[0]!.read(uri)).error).toMatchObject({ code: -32002, data: { uri } });
    expect(one.countOf('resources/read')).toBe(asked);
  });

  it('keeps the previous list when the fetch fails, and the next notification fetches again', async () => {
    const before = await uris();
    const from = gateway.logs.length;
    one.on('resources/list', () => {
      throw new Error('not now');
    });
    one.broadcast(RESOURCES_CHANGED);
    await gateway.logged({ level: 'warn', message: 'resources/list failed', server: 'one' }, from);
    expect(await uris()).toEqual(before);
    one.on('resources/list', () => ({ resources: [{ uri: 'x://recovered', name: 'r' }] }));
    one.broadcast(RESOURCES_CHANGED);
    await until('the new list is fetched', async () =>
      (await uris()).includes('resource://one/x://recovered'),
    );
  });
});
