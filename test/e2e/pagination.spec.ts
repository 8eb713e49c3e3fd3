import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN } from '../kit/admin-client.js';
import { launch } from '../kit/command-line.js';
import { exchange } from '../kit/http.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawSession } from '../kit/raw-session.js';
import { connectV1, type ClientV1 } from '../kit/sdk-clients.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { until } from '../kit/until.js';

const named = (name: string): object => ({ name, inputSchema: { type: 'object' } });

const namesIn = (result: Record<string, unknown> = {}): string[] =>
  (result['tools'] as { name: string }[]).map(({ name }) => name);

describe('a list of 220 tools', () => {
  const NAMES = Array.from({ length: 220 }, (_, index) => `main__tool_${String(index).padStart(3, '0')}`);
  let client: ClientV1;

  beforeAll(async () => {
    const server = await ScriptedServer.start();
    for (const name of NAMES) server.tool(name.slice('main__'.length), () => text('done'));
    const gateway = await startGateway({ metaTools: true, mcpServers: { main: server.http } });
    await gateway.listed({ tools: ['main'] });
    client = await connectV1(gateway.url);
  });

  it('is complete for a client that reads only the first page, meta tools first', async () => {
    const { tools, nextCursor } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(nextCursor).toBeUndefined();
    expect(names.slice(0, -220)).toEqual(expect.arrayContaining(['search_tools', 'catalog_tools']));
    expect(names.slice(-220)).toEqual(NAMES);
  });

  it('has pages of 50 entries in the meta tools', async () => {
    const first = await client.callTool({ name: 'catalog_tools' });
    const { tools, nextCursor } = first.structuredContent as { tools: object[]; nextCursor: string };
    expect(tools).toHaveLength(50);
    const second = await client.callTool({ name: 'catalog_tools', arguments: { cursor: nextCursor } });
    expect((second.structuredContent as { tools: object[] }).tools).toHaveLength(50);
  });
});

describe('paginated lists', () => {
  let gateway: Gateway;
  let session: RawSession;
  let server: ScriptedServer;
  let looping: ScriptedServer;

  beforeAll(async () => {
    server = await ScriptedServer.start();
    for (let index = 0; index < 8; index++)
      server.tool(`tool_${index}`, () => text('')).prompt(`prompt_${index}`, () => ({ messages: [] }));
    const paging = await ScriptedServer.start();
    paging.on('tools/list', ({ params }) => {
      const page = params['cursor'] === undefined ? 0 : Number(params['cursor']);
      const last = page === 4;
      return { tools: [named(`page_${page}`)], ...(last ? {} : { nextCursor: String(page + 1) }) };
    });
    looping = await ScriptedServer.start();
    looping.on('tools/list', () => ({ tools: [named('again')], nextCursor: '' }));
    gateway = await startGateway({
      admin: { token: ADMIN_TOKEN },
      limits: { pageSize: 3 },
      mcpServers: { main: server.http, paging: paging.http, looping: looping.http },
    });
    await gateway.listed({ tools: ['main', 'paging', 'looping'], prompts: ['main'] });
    session = await RawSession.open(gateway.url);
  });

  const ALL = [
    'looping__again',
    ...Array.from({ length: 8 }, (_, index) => `main__tool_${index}`),
    ...Array.from({ length: 5 }, (_, index) => `paging__page_${index}`),
  ];

  it('have limits.pageSize entries per page and contain every entry exactly once', async () => {
    const pages: string[][] = [];
    for (let cursor: unknown, more = true; more; more = cursor !== undefined) {
      const { result } = await session.request('tools/list', { cursor });
      pages.push(namesIn(result));
      cursor = result?.['nextCursor'];
    }
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 3, 3, 2]);
    expect(pages.flat()).toEqual(ALL);
  });

  it('that a client does not read to their end are counted', async () => {
    const client = await RawSession.open(gateway.url);
    for (let read = 0; read < 3; read++) await client.request('prompts/list');
    const { text: metrics } = await exchange(gateway.urlOf('/metrics'));
    // The last read counts after ten seconds.
    expect(metrics).toMatch(/^gatehouse_unfinished_lists_total\{method="prompts\/list"\} [23]$/m);
    const env = { GATEHOUSE_URL: gateway.urlOf('/'), GATEHOUSE_ADMIN_TOKEN: ADMIN_TOKEN };
    const id = await until('the client has not requested the next page in time', async () => {
      const { json } = await launch(['sessions', 'ls', '-o', 'json'], env).done;
      const sessions = json['sessions'] as unknown as { id: string; unfinishedLists: unknown[] }[];
      return sessions.find(({ unfinishedLists }) => unfinishedLists.length > 0)?.id;
    });
    const { stdout } = await launch(['sessions', 'show', id], env).done;
    expect(stdout).toMatch(/^ {2}unread pages +prompts\/list: only 3 entries were read$/m);
  });

  it('are answered without a request to any server', async () => {
    const before = server.received.length;
    await session.list('tools');
    await session.list('prompts');
    expect(server.received.length).toBe(before);
  });

  it('contain every page of a server, and the gateway stops at a server that repeats a cursor', async () => {
    const names = (await session.list('tools')).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['paging__page_0', 'paging__page_4', 'looping__again']));
    const message = 'tools/list ended because the server repeats a cursor';
    await gateway.logged({ level: 'warn', server: 'looping', message });
  });

  it('follow the changes of a server whose last page carries an empty cursor', async () => {
    looping.on('tools/list', () => ({ tools: [named('changed')], nextCursor: '' }));
    looping.broadcast('notifications/tools/list_changed');
    await session.namesUntil('tools', ALL.with(0, 'looping__changed'));
    expect((await session.callTool('looping__again')).error).toMatchObject({ code: -32602 });
    looping.on('tools/list', () => ({ tools: [named('again')], nextCursor: '' }));
    looping.broadcast('notifications/tools/list_changed');
    await session.namesUntil('tools', ALL);
  });

  it('continue at the same entry when the list changes between two pages', async () => {
    const { result } = await session.request('tools/list');
    server.tool('tool_0a', () => text(''));
    server.broadcast('notifications/tools/list_changed');
    const changed = ALL.toSpliced(2, 0, 'main__tool_0a');
    await session.namesUntil('tools', changed);
    const { result: next } = await session.request('tools/list', { cursor: result?.['nextCursor'] });
    expect(namesIn(next)).toEqual(['main__tool_2', 'main__tool_3', 'main__tool_4']);
    server.withoutTool('tool_0a');
    server.broadcast('notifications/tools/list_changed');
    await session.namesUntil('tools', ALL);
  });

  describe('refuse with -32602', () => {
    let valid: string;

    beforeAll(async () => {
      valid = String((await session.request('tools/list')).result?.['nextCursor']);
    });

    const flipped = (): string => (valid.startsWith('A') ? 'B' : 'A') + valid.slice(1);

    it.each<[string, () => unknown]>([
      ['a tampered cursor', flipped],
      ['a truncated cursor', () => valid.slice(0, -2)],
      ['a cursor with appended characters', () => `${valid}AAAA`],
      ['a forged cursor', () => Buffer.from('main__tool_3').toString('base64url')],
      ['an empty cursor', () => ''],
      ['a number as cursor', () => 3],
      ['null as cursor', () => null],
      ['a cursor of 1 MB', () => 'A'.repeat(1_000_000)],
    ])('%s', async (_case, cursor) => {
      const { error } = await session.request('tools/list', { cursor: cursor() });
      expect(error?.code).toBe(-32602);
    });

    it('a cursor of another list', async () => {
      const { error } = await session.request('prompts/list', { cursor: valid });
      expect(error?.code).toBe(-32602);
    });
  });
});
