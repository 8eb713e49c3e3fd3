import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Events } from '../kit/events.js';
import { startGateway } from '../kit/gateway.js';
import { RawSession } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { until } from '../kit/until.js';

const TOOLS_CHANGED = 'notifications/tools/list_changed';
const RESOURCES_CHANGED = 'notifications/resources/list_changed';
const PROMPTS_CHANGED = 'notifications/prompts/list_changed';

const startScripted = async (): Promise<ScriptedServer> =>
  (await ScriptedServer.start()).tool('first', () => text('1')).prompt('initial', () => ({ messages: [] }));

/** Two servers behind one gateway, and the streams of its clients. */
describe('a list change of a server', () => {
  let stdio: ScriptedServer;
  let http: ScriptedServer;
  /** It has no notification stream. */
  let plain: ScriptedServer;
  let url: string;
  let sessions: RawSession[];
  let streams: Events[];
  let lastPrompt = 0;

  beforeAll(async () => {
    [stdio, http, plain] = await Promise.all([startScripted(), startScripted(), startScripted()]);
    http.resource('x://first');
    Object.assign(plain.httpEndpoint, { isStateless: true, hasNotificationStream: false });
    const gateway = await startGateway({
      mcpServers: {
        stdio: stdio.stdio(),
        http: http.http,
        refreshed: { ...plain.http, refreshMs: 1000 },
        // It is listed again only because of the error of a call.
        stale: { ...plain.http, refreshMs: 86_400_000 },
      },
    });
    await gateway.listed({ tools: ['stdio', 'http', 'refreshed', 'stale'], prompts: ['stdio', 'http'] });
    url = gateway.url;
    sessions = await Promise.all([1, 2, 3].map(() => RawSession.open(url)));
    streams = await Promise.all(sessions.map((session) => session.listen()));
  });

  const counts = (method: string): number[] => streams.map((stream) => stream.count(method));

  const untilMore = (method: string, than: number[]): Promise<unknown> =>
    until(`every client received ${method}`, () =>
      counts(method).every((count, index) => count > than[index]!),
    );

  /** Notifications arrive in order: when the list change of prompts arrives, all earlier notifications have arrived. */
  async function drainNotifications(): Promise<void> {
    const before = counts(PROMPTS_CHANGED);
    http.prompt(`prompt-${++lastPrompt}`, () => ({ messages: [] }));
    http.broadcast(PROMPTS_CHANGED);
    await untilMore(PROMPTS_CHANGED, before);
  }

  it('without a notification stream reaches every client after a refresh, or after the error of a call', async () => {
    const before = counts(TOOLS_CHANGED);
    plain.withoutTool('first').tool('second', () => text('2'));
    await untilMore(TOOLS_CHANGED, before);
    const toolsOf = async (server: string): Promise<string[]> =>
      (await sessions[0]!.list('tools')).map(({ name }) => name).filter((name) => name.startsWith(server));
    expect(await toolsOf('refreshed')).toEqual(['refreshed__second']);
    expect(await toolsOf('stale')).toEqual(['stale__first']);
    expect((await sessions[0]!.callTool('stale__first')).error?.code).toBe(-32602);
    await until('the list is fetched again', async () => (await toolsOf('stale')).join() === 'stale__second');
    await drainNotifications();
  });

  it.each(['stdio', 'http'])(
    'reaches every client with an open stream exactly once, and only for the list that changed (%s)',
    async (server) => {
      const [tools, prompts] = [counts(TOOLS_CHANGED), counts(PROMPTS_CHANGED)];
      const scripted = server === 'stdio' ? stdio : http;
      scripted.tool('second', () => text('2'));
      scripted.broadcast(TOOLS_CHANGED);
      await untilMore(TOOLS_CHANGED, tools);
      expect(counts(PROMPTS_CHANGED)).toEqual(prompts);
      const { result } = await sessions[0]!.callTool(`${server}__second`);
      expect(result).toEqual(text('2'));
      await drainNotifications();
      expect(counts(TOOLS_CHANGED)).toEqual(tools.map((count) => count + 1));
    },
  );

  it('of resources reaches every client once when resources and templates changed', async () => {
    const before = counts(RESOURCES_CHANGED);
    http.resource('x://second').template('x://{id}');
    http.broadcast(RESOURCES_CHANGED);
    await untilMore(RESOURCES_CHANGED, before);
    await until('both lists have changed', async () => {
      const [resources, templates] = await Promise.all(
        (['resources', 'resourceTemplates'] as const).map((list) => sessions[0]!.list(list)),
      );
      return resources!.length === 2 && templates!.length === 1;
    });
    await drainNotifications();
    expect(counts(RESOURCES_CHANGED)).toEqual(before.map((count) => count + 1));
  });

  it('is not forwarded when the fetched list is the same', async () => {
    const [before, listed] = [counts(TOOLS_CHANGED), http.countOf('tools/list')];
    http.broadcast(TOOLS_CHANGED);
    await until('the gateway fetched the list again', () => http.countOf('tools/list') > listed);
    await drainNotifications();
    expect(counts(TOOLS_CHANGED)).toEqual(before);
  });

  it('is coalesced when a server announces it repeatedly', async () => {
    const [before, listed] = [counts(TOOLS_CHANGED), http.countOf('tools/list')];
    http.tool('third', () => text('3'));
    for (let turn = 0; turn < 100; turn++) http.broadcast(TOOLS_CHANGED);
    await untilMore(TOOLS_CHANGED, before);
    await drainNotifications();
    expect(counts(TOOLS_CHANGED)).toEqual(before.map((count) => count + 1));
    expect(http.countOf('tools/list') - listed).toBeLessThanOrEqual(2);
  });

  it('is kept once for a client without a stream, and not for one that is not initialized', async () => {
    const [late, unready] = await Promise.all([RawSession.open(url), RawSession.open(url, { ready: false })]);
    const before = counts(TOOLS_CHANGED);
    http.tool('fourth', () => text('4'));
    stdio.withoutTool('second');
    http.broadcast(TOOLS_CHANGED);
    stdio.broadcast(TOOLS_CHANGED);
    await untilMore(
      TOOLS_CHANGED,
      before.map((count) => count + 1),
    );
    await unready.notify('notifications/initialized');
    const opened = await Promise.all([late.listen(), unready.listen()]);
    streams.push(...opened);
    await drainNotifications();
    expect(opened.map((stream) => stream.count(TOOLS_CHANGED))).toEqual([1, 0]);
  });

  it('removes a tool from the list and from routing at once', async () => {
    const { error } = await sessions[0]!.callTool('stdio__second');
    expect(error).toMatchObject({ code: -32602, message: 'Unknown tool: stdio__second' });
    const names = (await sessions[0]!.list('tools')).map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('stdio'))).toEqual(['stdio__first']);
  });
});
