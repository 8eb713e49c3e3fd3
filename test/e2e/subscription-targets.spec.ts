import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN } from '../kit/admin-client.js';
import { launch } from '../kit/command-line.js';
import { GatewayProcesses } from '../kit/gateway-processes.js';
import type { ScriptedServer } from '../kit/scripted-server/scripted-server.js';
import { StatelessSdkServer } from '../kit/stateless-sdk-server.js';
import {
  sendUpdate,
  startSubscribableServer,
  SubscribedClient,
  subscriptionRequests,
  untilRequested,
} from '../kit/subscribed-client.js';
import { until } from '../kit/until.js';

const STAR = 'resource://stars/file:///a/*';

describe('a subscription', () => {
  let processes: GatewayProcesses;
  let stars: ScriptedServer;
  let silent: StatelessSdkServer;
  let polled: StatelessSdkServer;

  beforeAll(async () => {
    [stars, silent, polled] = await Promise.all([
      startSubscribableServer('file:///a/*', 'file:///a/b'),
      StatelessSdkServer.start('x://a'),
      StatelessSdkServer.start('x://a'),
    ]);
    processes = await GatewayProcesses.start({
      admin: { token: ADMIN_TOKEN },
      mcpServers: {
        stars: stars.http,
        silent: { url: silent.url },
        polled: { url: polled.url, watch: { pollMs: 1000 } },
      },
    });
    await processes.gateway.listed({ resources: ['stars', 'silent', 'polled'] });
  });

  it('to a server that answers GET with 405 is made at the server and polled with watch.pollMs', async () => {
    const client = await SubscribedClient.of(processes.gateway.url, 'resource://polled/x://a');
    expect(polled.subscribed).toEqual(['x://a']);
    polled.text = 'second';
    await client.untilUpdated('resource://polled/x://a');
    const { json } = await processes.admin.get('servers/polled');
    expect(json).toMatchObject({ state: 'ready', notificationStream: 'none', updates: 'polling' });
  });

  it('to a server that answers GET with 405 is shown as one without updates if it is not polled', async () => {
    await SubscribedClient.of(processes.gateway.url, 'resource://silent/x://a');
    expect(silent.subscribed).toEqual(['x://a']);
    const { json } = await processes.admin.get('servers/silent');
    expect(json).toMatchObject({ state: 'ready', notificationStream: 'none', updates: 'none' });
    const env = { GATEHOUSE_URL: processes.gateway.urlOf('/'), GATEHOUSE_ADMIN_TOKEN: ADMIN_TOKEN };
    const { stdout } = await launch(['servers', 'show', 'silent'], env).done;
    expect(stdout).toMatch(
      /notifications +none: no notification stream\n +updates +no updates can come; set watch.pollMs\n/,
    );
  });

  it('to a listed URI that ends in * is for that resource alone, also after a restart', async () => {
    const before = await SubscribedClient.of(processes.gateway.url, STAR);
    for (const uri of ['file:///a/b', 'file:///a/*']) sendUpdate(stars, uri);
    await before.untilUpdated(STAR);
    expect(before.uris).toEqual([STAR]);
    await processes.restart('SIGKILL');
    const after = await SubscribedClient.onSession(processes.sessionOf(before));
    await after.untilUpdated(STAR);
    for (const uri of ['file:///a/b', 'file:///a/*']) sendUpdate(stars, uri, { n: 1 });
    await after.untilUpdated(STAR, 2);
    expect(after.updates).toEqual([{ uri: STAR }, { uri: STAR, n: 1 }]);
    await after.unsubscribe(STAR);
    await untilRequested(stars, '-file:///a/*');
    expect(subscriptionRequests(stars)).toEqual(['+file:///a/*', '+file:///a/*', '-file:///a/*']);
    await until('the row ends', async () => (await processes.subscriptions('stars')).length === 0);
  });
});
