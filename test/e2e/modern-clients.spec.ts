import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { ModernSdkServer } from '../kit/modern-server/modern-sdk-server.js';
import { buildServer, createState } from '../kit/modern-server/offer.mjs';
import { startEverything } from '../kit/real-servers.js';
import { connectModern } from '../kit/sdk-clients.js';

describe('a client of revision 2026-07-28', () => {
  let gateway: Gateway;

  beforeAll(async () => {
    const everything = await startEverything('streamableHttp');
    const modern = await ModernSdkServer.start(() => buildServer(createState()));
    gateway = await startGateway({
      http: { modern: true },
      mcpServers: { old: { url: everything.url }, new: { url: modern.url } },
    });
    await gateway.listed({ tools: ['old', 'new'] });
  });

  it('calls tools of servers of both eras', async () => {
    const client = await connectModern(gateway.url);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['old__echo', 'new__echo']));
    for (const [name, args] of [
      ['old__echo', { message: 'hi' }],
      ['new__echo', { text: 'hi' }],
    ] as const) {
      const result = await client.callTool({ name, arguments: args });
      expect(JSON.stringify(result.content)).toContain('hi');
    }
  });
});
