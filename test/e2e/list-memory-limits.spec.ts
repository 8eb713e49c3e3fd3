import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { RawSession } from '../kit/raw-session.js';
import { Scrape } from '../kit/scrape.js';
import type { ScriptedLink } from '../kit/scripted-server/scripted-link.js';
import { ScriptedServer } from '../kit/scripted-server/scripted-server.js';
import { until } from '../kit/until.js';

const MAX_LINKS = 10_000;
const MAX_SESSION_DEFINITIONS = 10_000;
/** A page of the gateway has at most 4 MB of text and is cached with its bytes: ten of them take more than 64 MB. */
const [LONG_TOOLS, LONG_TOOLS_PER_PAGE, DESCRIPTION_LENGTH] = [200, 50, 200_000];

const tools = (count: number, description = '', from = 0): object[] =>
  Array.from({ length: count }, (_, n) => ({
    name: `tool-${from + n}`,
    description,
    inputSchema: { type: 'object' },
  }));

/** The URIs of the links in one result. */
const links = (count: number, run: unknown): string[] =>
  Array.from({ length: count }, (_, n) => `made:${String(run)}/${n}`);

async function startLinkingServer(): Promise<ScriptedServer> {
  const server = await ScriptedServer.start();
  return server.tool('link', ({ args }) => ({
    content: links(Number(args['count']), args['run']).map((uri) => ({
      type: 'resource_link',
      uri,
      name: 'made',
    })),
  }));
}

async function startServerWithLongTools(): Promise<ScriptedServer> {
  const server = await ScriptedServer.start();
  return server.on('tools/list', ({ params }) => {
    const from = Number(params['cursor'] ?? 0);
    const next = from + LONG_TOOLS_PER_PAGE;
    return {
      tools: tools(LONG_TOOLS_PER_PAGE, 'x'.repeat(DESCRIPTION_LENGTH), from),
      ...(next < LONG_TOOLS && { nextCursor: String(next) }),
    };
  });
}

/** Lists one tool more than the limit for clients with roots, and one for all others. */
async function startServerWithConditions(): Promise<ScriptedServer> {
  const server = await ScriptedServer.start();
  const withRoots = new Set<ScriptedLink>();
  return server
    .on('initialize', ({ link, params }) => {
      if ((params['capabilities'] as { roots?: object }).roots) withRoots.add(link);
      const serverInfo = { name: 'conditions', version: '1' };
      return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
    })
    .on('tools/list', ({ link }) => ({
      tools: tools(withRoots.has(link) ? MAX_SESSION_DEFINITIONS + 1 : 1),
    }));
}

describe('memory limits of lists', () => {
  let gateway: Gateway;
  let session: RawSession;

  beforeAll(async () => {
    const [linking, long, own] = await Promise.all([
      startLinkingServer(),
      startServerWithLongTools(),
      startServerWithConditions(),
    ]);
    gateway = await startGateway({
      mcpServers: {
        linking: linking.http,
        long: long.http,
        own: { ...own.stdio(), isolation: 'session' },
      },
      metaTools: false,
      projects: { linking: { servers: ['linking'] }, long: { servers: ['long'] }, own: { servers: ['own'] } },
    });
    await gateway.listed({ tools: ['linking', 'own'] });
    session = await RawSession.open(gateway.urlOf('/projects/linking/mcp'));
  });

  const limited = async (limit: string): Promise<number> => {
    const { text: metrics } = await exchange(gateway.urlOf('/metrics'));
    return new Scrape(metrics).value('gatehouse_memory_limits_total', { limit })!;
  };

  it('drop the oldest of more than 10,000 links to unlisted resources of a server', async () => {
    await session.callTool('linking__link', { run: 1, count: MAX_LINKS });
    expect(await limited('resource-links')).toBe(0);
    const [first, third] = ['resource://linking/made:1/0', 'resource://linking/made:1/2'];
    expect((await session.read(first)).result).toBeDefined();
    await session.callTool('linking__link', { run: 2, count: 2 });
    expect(await limited('resource-links')).toBe(2);
    expect((await session.read(first)).error).toMatchObject({ code: -32002 });
    expect((await session.read(third)).result).toBeDefined();
  });

  it('drop the oldest of more than 64 MB of list pages, and build it again', async () => {
    const client = await RawSession.open(gateway.urlOf('/projects/long/mcp'));
    await until('all tools are listed', async () => (await client.list('tools')).length === LONG_TOOLS);
    const dropped = await limited('list-pages');
    expect(dropped).toBeGreaterThan(0);
    expect(await client.list('tools')).toHaveLength(LONG_TOOLS);
    expect(await limited('list-pages')).toBeGreaterThan(dropped);
  });

  it('give a session the shared list instead of more than 10,000 definitions of its own', async () => {
    const client = await RawSession.open(gateway.urlOf('/projects/own/mcp'), { capabilities: { roots: {} } });
    expect(await limited('session-listings')).toBe(0);
    expect((await client.list('tools')).map(({ name }) => name)).toEqual(['own__tool-0']);
    await until('the limit is counted', async () => (await limited('session-listings')) === 1);
  });
});
