import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawSession, textIn } from '../kit/raw-session.js';
import { everythingOverStdio } from '../kit/real-servers.js';
import type { ScriptedCall } from '../kit/scripted-server/scripted-call.js';
import type { ScriptedLink } from '../kit/scripted-server/scripted-link.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { until } from '../kit/until.js';

const ROOTS = { roots: { listChanged: true } };

/** A server that lists entries for clients with roots, and further ones that a test adds for one link. */
class ServerWithConditions {
  private readonly withRoots = new Set<ScriptedLink>();
  private readonly added = new Map<ScriptedLink, string[]>();

  constructor(readonly scripted: ScriptedServer) {
    scripted
      .on('tools/list', ({ link }) => ({ tools: this.namesOf(link).map(toolNamed) }))
      .on('prompts/list', ({ link }) => ({ prompts: this.namesOf(link).map((name) => ({ name })) }))
      .on('resources/list', ({ link }) => ({
        resources: this.namesOf(link).map((name) => ({ uri: `x:${name}`, name })),
      }))
      .on('resources/templates/list', ({ link }) => ({
        resourceTemplates: this.namesOf(link).map((name) => ({ uriTemplate: `x:${name}/{id}`, name })),
      }))
      .on('tools/call', (call) => text(this.answerOf(call)))
      .on('prompts/get', (call) => ({
        messages: [{ role: 'user', content: { type: 'text', text: this.answerOf(call) } }],
      }))
      .on('resources/subscribe', () => ({}))
      .on('initialize', ({ link, params }) => {
        const { capabilities } = params as { capabilities: { roots?: object } };
        if (capabilities.roots) this.withRoots.add(link);
        return {
          protocolVersion: '2025-11-25',
          capabilities: { tools: LIST_CHANGED, prompts: LIST_CHANGED, resources: SUBSCRIBABLE },
          serverInfo: { name: 'conditions', version: '1' },
        };
      });
  }

  /** The process of a client. */
  async linkOf(client: RawSession): Promise<ScriptedLink> {
    const pid = Number(textIn(await client.callTool('own__always'))?.split(' ')[0]);
    return this.scripted.links.find((link) => link.pid === pid)!;
  }

  add(link: ScriptedLink, name: string): void {
    this.added.set(link, [...(this.added.get(link) ?? []), name]);
    link.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }));
  }

  private namesOf(link: ScriptedLink): string[] {
    return ['always', ...(this.withRoots.has(link) ? ['rooted'] : []), ...(this.added.get(link) ?? [])];
  }

  private answerOf({ link, params }: ScriptedCall): string {
    return `${link.pid} ${String(params['name'])}`;
  }
}

const LIST_CHANGED = { listChanged: true };
const SUBSCRIBABLE = { ...LIST_CHANGED, subscribe: true };
const toolNamed = (name: string): object => ({
  name,
  description: name === 'rooted' ? 'counts walruses' : 'does nothing',
  inputSchema: { type: 'object' },
});

const namesIn = async (client: RawSession, kind: 'tools' | 'prompts'): Promise<string[]> =>
  (await client.list(kind)).map(({ name }) => name).filter((name) => name.startsWith('own__'));

const urisOf = async (client: RawSession): Promise<unknown[]> =>
  (await client.list('resources')).map(({ uri }) => uri).filter((uri) => uri?.includes('//own/'));

const found = async (client: RawSession, tool: string, args: object): Promise<boolean> =>
  (await client.callTool(tool, args)).text.includes('own__rooted');

/** Whether search_tools, catalog_tools, describe_tool and search_resources find what is listed for clients with roots. */
const metaToolOutcomes = async (client: RawSession): Promise<boolean[]> =>
  Promise.all([
    found(client, 'search_tools', { query: 'walruses' }),
    found(client, 'catalog_tools', { serverId: 'own' }),
    client
      .callTool('describe_tool', { name: 'own__rooted' })
      .then(({ text: answer }) => !answer.includes('Unknown')),
    client
      .callTool('search_resources', { query: 'rooted' })
      .then(({ text: answer }) => answer.includes('resource://own/x:rooted')),
  ]);

/** All pages of what the admin API says that a client sees. */
async function shownFor(
  client: RawSession,
  admin: AdminClient,
  list: 'tools' | 'resources',
): Promise<unknown[]> {
  const session = createHash('sha256').update(client.id).digest('hex').slice(0, 16);
  const shown: unknown[] = [];
  for (let cursor = '', more = true; more; more = cursor !== '') {
    const { json } = await admin.get(`sessions/${session}/${list}?limit=3${cursor && `&cursor=${cursor}`}`);
    shown.push(...(json[list] as { definition: unknown }[]).map(({ definition }) => definition));
    cursor = (json['nextCursor'] as string | undefined) ?? '';
  }
  return shown;
}

describe('with isolation: session', () => {
  let server: ServerWithConditions;
  let gateway: Gateway;

  beforeAll(async () => {
    server = new ServerWithConditions(await ScriptedServer.start());
    gateway = await startGateway({
      metaTools: true,
      admin: { token: ADMIN_TOKEN },
      mcpServers: {
        everything: { ...everythingOverStdio(), isolation: 'session' },
        shared: server.scripted.stdio(),
        own: { ...server.scripted.stdio(), isolation: 'session' },
      },
      // So that only the test of the real server starts processes of it.
      projects: { real: { servers: ['everything'] }, scripted: { servers: ['shared', 'own'] } },
    });
    await gateway.listed({ tools: ['everything', 'own'], resources: ['own'] });
  });

  async function open(capabilities: object, project = 'scripted'): Promise<RawSession> {
    const client = await RawSession.open(gateway.urlOf(`/projects/${project}/mcp`), { capabilities });
    client.onServerRequest = () => ({ roots: [{ uri: 'file:///of-this-client' }] });
    return client;
  }

  it('the admin API names the capabilities that a shared link lacks, for shared links only', async () => {
    const admin = new AdminClient(gateway);
    const missing = async (id: string): Promise<unknown> =>
      (await admin.get(`servers/${id}`)).json['missingCapabilities'];
    expect(await missing('shared')).toEqual(['roots', 'sampling.context', 'sampling.tools']);
    expect(await missing('own')).toBeUndefined();
  });

  it('a server that lists a tool for clients with roots lists it for those clients only', async () => {
    const [one, other] = await Promise.all([open(ROOTS, 'real'), open({}, 'real')]);
    const lists = await Promise.all([one.list('tools'), other.list('tools')]);
    const hasTool = lists.map((tools) => tools.some(({ name }) => name === 'everything__get-roots-list'));
    expect(hasTool).toEqual([true, false]);
    const answer = await one.callTool('everything__get-roots-list');
    expect(textIn(answer)).toContain('file:///of-this-client');
    const refused = await other.callTool('everything__get-roots-list');
    expect(refused.error?.code).toBe(-32602);
  });

  it('prompts, resources and templates are those of the session, and reach its process', async () => {
    const [one, other] = await Promise.all([open(ROOTS), open({})]);
    expect(await namesIn(one, 'prompts')).toEqual(['own__always', 'own__rooted']);
    expect(await namesIn(other, 'prompts')).toEqual(['own__always']);
    expect(await urisOf(one)).toEqual(['resource://own/x:always', 'resource://own/x:rooted']);
    expect(await urisOf(other)).toEqual(['resource://own/x:always']);
    const templates = (await one.list('resourceTemplates')).map(({ uriTemplate }) => uriTemplate);
    expect(templates).toContain('resource://own/x:rooted/{id}');
    const prompt = await one.request('prompts/get', { name: 'own__rooted' });
    expect(prompt.text).toContain(`${(await server.linkOf(one)).pid} rooted`);
    expect((await one.read('resource://own/x:rooted')).text).toContain('read x:rooted');
    expect((await other.request('prompts/get', { name: 'own__rooted' })).error?.code).toBe(-32602);
  });

  it('a name of the session alone is known before the client has listed', async () => {
    const one = await open(ROOTS);
    expect(textIn(await one.callTool('own__rooted'))).toContain('rooted');
    const other = await open(ROOTS);
    expect(textIn(await other.callTool('rooted'))).toContain('rooted');
    expect((await (await open({})).callTool('own__rooted')).error?.code).toBe(-32602);
  });

  it('a resource of the session alone can be subscribed to before the client has listed', async () => {
    const params = { uri: 'resource://own/x:rooted' };
    const one = await open(ROOTS);
    expect(await one.request('resources/subscribe', params)).toMatchObject({ result: {} });
    const other = await open(ROOTS);
    expect(await other.request('resources/subscribe', { uri: 'x:rooted' })).toMatchObject({ result: {} });
    expect((await (await open({})).request('resources/subscribe', params)).error?.code).toBe(-32602);
  });

  it('the admin API shows exactly what each session lists, also before it has listed', async () => {
    const admin = new AdminClient(gateway);
    const [one, other] = await Promise.all([open(ROOTS), open({})]);
    const includesRooted = async (client: RawSession): Promise<boolean> =>
      JSON.stringify(await shownFor(client, admin, 'tools')).includes('"own__rooted"');
    await until('the tool of clients with roots is shown', () => includesRooted(one));
    expect(await includesRooted(other)).toBe(false);
    for (const client of [one, other]) {
      expect(await shownFor(client, admin, 'tools')).toEqual(await client.list('tools'));
      expect(await shownFor(client, admin, 'resources')).toEqual(await client.list('resources'));
    }
  });

  it('meta tools describe and search what the session lists', async () => {
    const [one, other] = await Promise.all([open(ROOTS), open({})]);
    expect(await metaToolOutcomes(one)).toEqual([true, true, true, true]);
    expect(await metaToolOutcomes(other)).toEqual([false, false, false, false]);
  });

  it('a list change of a process reaches the client of that process only', async () => {
    const [one, other] = await Promise.all([open(ROOTS), open(ROOTS)]);
    const [stream, otherStream] = await Promise.all([one.listen(), other.listen()]);
    expect(await namesIn(one, 'tools')).toEqual(['own__always', 'own__rooted']);
    expect(await namesIn(other, 'tools')).toEqual(['own__always', 'own__rooted']);
    server.add(await server.linkOf(one), 'added');
    const CHANGED = 'notifications/tools/list_changed';
    await until('the client is notified', () => stream.count(CHANGED) > 0);
    expect(await namesIn(one, 'tools')).toEqual(['own__added', 'own__always', 'own__rooted']);
    expect(textIn(await one.callTool('own__added'))).toContain('added');
    expect(await namesIn(other, 'tools')).toEqual(['own__always', 'own__rooted']);
    expect([stream.count(CHANGED), otherStream.count(CHANGED)]).toEqual([1, 0]);
  });

  it('a request right after initialized gets the answer of the client, although no call is in flight', async () => {
    const answers: unknown[] = [];
    server.scripted.on('notifications/initialized', async ({ link }) => {
      const { result, error } = await link.sendRequest('roots/list', {});
      answers.push(result ?? error);
    });
    const clients = await Promise.all(Array.from({ length: 4 }, () => open(ROOTS)));
    await Promise.all(clients.map((client) => client.listen()));
    await Promise.all(clients.map((client) => client.list('tools')));
    await until('each process has an answer', () => answers.length >= clients.length);
    expect(answers).toEqual(clients.map(() => ({ roots: [{ uri: 'file:///of-this-client' }] })));
  });
});
