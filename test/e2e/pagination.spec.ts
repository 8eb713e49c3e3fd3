import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawSession } from '../kit/raw-session.js';
import { ScriptedBackend, text } from '../kit/scripted-backend.js';

const named = (name: string): object => ({ name, inputSchema: { type: 'object' } });

const namesIn = (result: Record<string, unknown> = {}): string[] =>
  (result['tools'] as { name: string }[]).map(({ name }) => name);

describe('lists in pages', () => {
  let gateway: Gateway;
  let session: RawSession;
  let backend: ScriptedBackend;

  beforeAll(async () => {
    backend = await ScriptedBackend.start();
    for (let index = 0; index < 8; index++)
      backend.tool(`tool_${index}`, () => text('')).prompt(`prompt_${index}`, () => ({ messages: [] }));
    const paging = await ScriptedBackend.start();
    paging.on('tools/list', ({ params }) => {
      const page = params['cursor'] === undefined ? 0 : Number(params['cursor']);
      const last = page === 4;
      return { tools: [named(`page_${page}`)], ...(last ? {} : { nextCursor: String(page + 1) }) };
    });
    const looping = await ScriptedBackend.start();
    looping.on('tools/list', () => ({ tools: [named('again')], nextCursor: '' }));
    gateway = await startGateway({
      limits: { pageSize: 3 },
      mcpServers: { main: backend.http, paging: paging.http, looping: looping.http },
    });
    await gateway.listed({ tools: ['main', 'paging', 'looping'], prompts: ['main'] });
    session = await RawSession.open(gateway.url);
  }, 30_000);

  const ALL = [
    'looping__again',
    ...Array.from({ length: 8 }, (_, index) => `main__tool_${index}`),
    ...Array.from({ length: 5 }, (_, index) => `paging__page_${index}`),
  ];

  it('holds as many as the config says, and every entry exactly once', async () => {
    const pages: string[][] = [];
    for (let cursor: unknown, more = true; more; more = cursor !== undefined) {
      const { result } = await session.request('tools/list', { cursor });
      pages.push(namesIn(result));
      cursor = result?.['nextCursor'];
    }
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 3, 3, 2]);
    expect(pages.flat()).toEqual(ALL);
  });

  it('makes no request to any server', async () => {
    const before = backend.received.length;
    await session.list('tools');
    await session.list('prompts');
    expect(backend.received.length).toBe(before);
  });

  it('follows every page of a server, and stops at one that pages in a circle', async () => {
    const names = (await session.list('tools')).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['paging__page_0', 'paging__page_4', 'looping__again']));
    await gateway.logged({ level: 'warn', server: 'looping', message: 'tools/list was cut short' });
  });

  it('goes on at the same place when the list changes in between', async () => {
    const { result } = await session.request('tools/list');
    backend.tool('tool_0a', () => text(''));
    backend.announce('notifications/tools/list_changed');
    const changed = ALL.toSpliced(2, 0, 'main__tool_0a');
    await session.namesUntil('tools', changed);
    const { result: next } = await session.request('tools/list', { cursor: result?.['nextCursor'] });
    expect(namesIn(next)).toEqual(['main__tool_2', 'main__tool_3', 'main__tool_4']);
    backend.withoutTool('tool_0a');
    backend.announce('notifications/tools/list_changed');
    await session.namesUntil('tools', ALL);
  });

  describe('refuses with -32602', () => {
    let genuine: string;

    beforeAll(async () => {
      genuine = String((await session.request('tools/list')).result?.['nextCursor']);
    });

    const flipped = (): string => (genuine.startsWith('A') ? 'B' : 'A') + genuine.slice(1);

    it.each<[string, () => unknown]>([
      ['a tampered cursor', flipped],
      ['a cut cursor', () => genuine.slice(0, -2)],
      ['a cursor with something added', () => `${genuine}AAAA`],
      ['an invented cursor', () => Buffer.from('main__tool_3').toString('base64url')],
      ['an empty cursor', () => ''],
      ['a cursor that is no string', () => 3],
      ['a cursor of null', () => null],
      ['a huge cursor', () => 'A'.repeat(1_000_000)],
    ])('%s', async (_what, cursor) => {
      const { error } = await session.request('tools/list', { cursor: cursor() });
      expect(error?.code).toBe(-32602);
    });

    it('the cursor of another list', async () => {
      const { error } = await session.request('prompts/list', { cursor: genuine });
      expect(error?.code).toBe(-32602);
    });
  });
});
