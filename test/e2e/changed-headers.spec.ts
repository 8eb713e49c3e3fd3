import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { ModernSdkServer } from '../kit/modern-server/modern-sdk-server.js';
import { buildServer, createState } from '../kit/modern-server/offer.mjs';
import { refusalOf } from '../kit/promises.js';
import { connectModern, connectV1 } from '../kit/sdk-clients.js';

/*
 * A server of revision 2026-07-28 changes an input schema, and so the headers that a call needs, without a notification. It
 * refuses the next call with -32020.
 */

const REGION = { arguments: { region: 'eu' } };
const CONNECT = { 2025: connectV1, 2026: connectModern };
const SERVERS = ['shared', 'isolated'] as const;
const ROWS = SERVERS.flatMap((server) => (['2025', '2026'] as const).map((era) => [server, era] as const));

describe('a call whose headers the server refuses', () => {
  const state = createState();
  let server: ModernSdkServer;
  let gateway: Gateway;
  let changes = 0;

  const callsOf = (): (string | undefined)[][] =>
    server.requests
      .filter((headers) => headers['mcp-method'] === 'tools/call')
      .map((headers) => Object.keys(headers).filter((name) => name.startsWith('mcp-param-')));

  beforeAll(async () => {
    server = await ModernSdkServer.start(() => buildServer(state));
    gateway = await startGateway({
      mcpServers: { shared: { url: server.url }, isolated: { url: server.url, isolation: 'session' } },
    });
    await gateway.listed({ tools: SERVERS });
  });

  it.each(ROWS)('is repeated with the headers of the current schema (%s, client of %s)', async (id, era) => {
    const client = await CONNECT[era](gateway.url);
    await client.listTools();
    const before = callsOf().length;
    const current = `Area${++changes}`;
    state.regionHeader = current;
    const { content } = await client.callTool({ name: `${id}__route`, ...REGION });
    expect(content).toEqual([{ type: 'text', text: '{"region":"eu"}' }]);
    const calls = callsOf().slice(before);
    expect(calls).toHaveLength(2);
    expect(calls[1]).toEqual([`mcp-param-${current.toLowerCase()}`]);
  });

  it.each(ROWS)('fails when the server refuses it again (%s, client of %s)', async (id, era) => {
    const client = await CONNECT[era](gateway.url);
    await client.listTools();
    Object.defineProperty(state, 'regionHeader', { get: () => `Other${++changes}`, configurable: true });
    const before = callsOf().length;
    const error = await refusalOf(client.callTool({ name: `${id}__route`, ...REGION }));
    expect(error).toMatchObject({ code: -31003, data: { server: id, reason: 'refused' } });
    expect(callsOf()).toHaveLength(before + 2);
    Object.defineProperty(state, 'regionHeader', { value: 'Region', writable: true });
  });
});
