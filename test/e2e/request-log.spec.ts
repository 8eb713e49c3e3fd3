import { beforeAll, describe, expect, it } from '@jest/globals';
import { hashOf } from '../../src/config/api-key-config.js';
import { startGateway, type Gateway, type LogEntry } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { postMessage, RawSession } from '../kit/raw-session.js';
import { Scrape } from '../kit/scrape.js';
import { ScriptedError, ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { until } from '../kit/until.js';

const KEY = 'key-of-the-client';

describe('the log', () => {
  let gateway: Gateway;
  let session: RawSession;

  beforeAll(async () => {
    const server = (await ScriptedServer.start()).resource('x://a').tool('ok', () => text('done'));
    server.tool('refuse', () => {
      throw new ScriptedError('{"code":-32050,"message":"refused by the server"}');
    });
    server.on('resources/read', () => {
      throw new ScriptedError('{"code":-32051,"message":"not readable"}');
    });
    gateway = await startGateway({
      mcpServers: { s: server.http },
      projects: { p: { servers: ['s'] } },
      auth: { apiKeys: [{ id: 'ci', hash: hashOf(KEY), projects: ['p'] }] },
    });
    const headers = { authorization: `Bearer ${KEY}` };
    await gateway.listed({ tools: ['s'], resources: ['s'] }, headers);
    session = await RawSession.open(gateway.urlOf('/projects/p/mcp'), { headers });
  });

  const linesOf = (message: string, from = 0): LogEntry[] =>
    gateway.logs.slice(from).filter((entry) => entry.message === message);
  const suppressed = async (kind: string): Promise<number> =>
    new Scrape((await exchange(gateway.urlOf('/metrics'))).text).value(
      'gatehouse_log_lines_suppressed_total',
      { kind },
    )!;

  it.each<[string, string, Record<string, unknown>, Record<string, unknown>]>([
    [
      'a call that its server refuses',
      'tools/call',
      { name: 's__refuse' },
      { tool: 's__refuse', server: 's', code: -32050 },
    ],
    ['a call of an unknown tool', 'tools/call', { name: 'none' }, { tool: 'none', code: -32602 }],
    [
      'a read',
      'resources/read',
      { uri: 'resource://s/x://a' },
      { uri: 'resource://s/x://a', server: 's', code: -32051 },
    ],
    ['a prompt', 'prompts/get', { name: 'none' }, { prompt: 'none', code: -32602 }],
  ])('has who requested what, and the code, of %s that fails', async (_what, method, params, expected) => {
    const id = `${method} ${JSON.stringify(params)}`;
    await session.request(method, params, id);
    expect(await gateway.logged({ message: 'request failed', requestId: id })).toMatchObject({
      ...expected,
      method,
      session: expect.stringMatching(/^[0-9a-f]{16}$/),
      principal: 'key:ci',
      project: 'p',
      client: 'raw 1',
      reason: expect.any(String),
      durationMs: expect.any(Number),
    });
  });

  it.each<[string, string, number, () => Promise<unknown>]>([
    ['request failed', 'failed-request', 50, () => session.callTool('none')],
    [
      'token refused',
      'refused-credentials',
      10,
      () => postMessage(gateway.url, {}, { authorization: 'Bearer wrong' }),
    ],
  ])(
    'has at most so many lines "%s" a second, and the rest is counted (%s)',
    async (message, kind, limit, fail) => {
      const from = gateway.logs.length;
      const before = await suppressed(kind);
      const startedAt = performance.now();
      let sent = 0;
      await until('more fail in a second than are logged', async () => {
        await Promise.all(Array.from({ length: 1.5 * limit }, fail));
        sent += 1.5 * limit;
        return (await suppressed(kind)) > before;
      });
      const counted = (await suppressed(kind)) - before;
      await until('every line is read', () => linesOf(message, from).length + counted === sent);
      const seconds = (performance.now() - startedAt) / 1000;
      expect(linesOf(message, from).length).toBeGreaterThanOrEqual(limit / 2);
      expect(linesOf(message, from).length).toBeLessThanOrEqual(limit * (2 + seconds));
    },
  );
});
