import { describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { Scrape } from '../kit/scrape.js';
import { ScriptedServer } from '../kit/scripted-server/scripted-server.js';
import { deferred, until } from '../kit/until.js';

const SERVERS = ['a', 'b', 'c', 'd', 'e', 'f'];

const waitingIn = async (gateway: Gateway): Promise<number | undefined> =>
  new Scrape((await exchange(gateway.urlOf('/metrics'))).text).value('gatehouse_backends_waiting_to_start');

describe('startup.parallel', () => {
  it('is the number of servers that start at once', async () => {
    const server = await ScriptedServer.start();
    const released = deferred();
    let starting = 0;
    let maxStarting = 0;
    server.on('initialize', async () => {
      maxStarting = Math.max(maxStarting, ++starting);
      await released.promise;
      starting--;
      return { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } };
    });
    const gateway = await startGateway({
      startup: { parallel: 2 },
      mcpServers: Object.fromEntries(SERVERS.map((id) => [id, server.http])),
    });
    await until('the others wait', async () => starting === 2 && (await waitingIn(gateway)) === 4);
    expect(maxStarting).toBe(2);
    released.resolve();
    await until(
      'all servers have started',
      () => server.countOf('notifications/initialized') === SERVERS.length,
    );
    expect([maxStarting, await waitingIn(gateway)]).toEqual([2, 0]);
  });

  it('leaves each server its own deadline', async () => {
    const [hanging, fine] = [await ScriptedServer.start(), await ScriptedServer.start()];
    hanging.on('initialize', () => undefined);
    fine.tool('echo', () => ({ content: [] }));
    const gateway = await startGateway({
      admin: { token: ADMIN_TOKEN },
      startup: { parallel: 1 },
      mcpServers: {
        impatient: { ...hanging.http, connectTimeoutMs: 500 },
        patient: { ...hanging.http, connectTimeoutMs: 60_000 },
        fine: fine.http,
      },
    });
    await gateway.logged({ message: 'server is retrying', server: 'impatient' });
    await gateway.listed({ tools: ['fine'] });
    const admin = new AdminClient(gateway);
    expect((await admin.get('servers/patient')).json).toMatchObject({ state: 'connecting', attempts: 1 });
  });
});
