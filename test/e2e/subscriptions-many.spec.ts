import { describe, expect, it } from '@jest/globals';
import { ManyClients, maxOpenFiles, withMaxOpenFiles } from '../kit/many-clients.js';
import { launchGateway, startGateway, writeConfig, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { Scrape } from '../kit/scrape.js';
import {
  untilRequested,
  startSubscribableServer,
  subscriptionRequests,
  sendUpdate,
} from '../kit/subscribed-client.js';
import { until } from '../kit/until.js';

const A = 'resource://docs/x://a';
/** Open files of a process in addition to the streams. */
const OTHER_FILES = 300;
const WANTED = 10_000;

const active = async (gateway: Gateway): Promise<number | undefined> =>
  new Scrape((await exchange(gateway.urlOf('/metrics'))).text).value('mcp_active_subscriptions');

describe('many clients', () => {
  it('of one resource share one upstream subscription, also after the server was killed', async () => {
    const docs = await startSubscribableServer('x://a');
    const gateway = await startGateway({ mcpServers: { docs: docs.stdio() } });
    await gateway.listed({ resources: ['docs'] });
    const many = await ManyClients.open(gateway.url, A, 1000);
    expect(subscriptionRequests(docs)).toEqual(['+x://a']);
    sendUpdate(docs, 'x://a', { note: 'first' });
    expect(await many.untilReceived(1)).toEqual({ open: 1000, counts: { 1: 1000 }, notes: ['first'] });

    process.kill(docs.link.pid!, 'SIGKILL');
    await untilRequested(docs, '+x://a', 2);
    await many.untilReceived(2);
    sendUpdate(docs, 'x://a', { note: 'last' });
    // The update that the gateway sends after the gap has no note.
    expect(await many.untilReceived(3)).toEqual({
      open: 1000,
      counts: { 3: 1000 },
      notes: ['first', '-', 'last'],
    });
    expect(subscriptionRequests(docs)).toEqual(['+x://a', '+x://a']);

    await many.endSessions(1);
    expect(await active(gateway)).toBe(1);
    expect(subscriptionRequests(docs)).toHaveLength(2);
    await many.endSessions();
    await untilRequested(docs, '-x://a');
    expect(subscriptionRequests(docs)).toEqual(['+x://a', '+x://a', '-x://a']);
    expect(await active(gateway)).toBe(0);
  }, 60_000);

  it('get an update exactly once with 10,000 event streams', async () => {
    const clients = Math.min(WANTED, maxOpenFiles() - OTHER_FILES);
    if (clients < WANTED) console.warn(`only ${clients} clients: the limit of open files allows no more`);
    const docs = await startSubscribableServer('x://a');
    const config = writeConfig({
      mcpServers: { docs: docs.http },
      limits: {
        sessions: WANTED,
        sessionsPerPrincipal: WANTED,
        streamsPerPrincipal: WANTED,
        connectionsPerPrincipal: 2 * WANTED,
        subscriptions: WANTED,
        subscriptionsPerServer: WANTED,
      },
    });
    const gateway = launchGateway(['--config', config], {}, withMaxOpenFiles());
    await gateway.listening();
    await until('the server is ready', async () =>
      (await exchange(gateway.urlOf('/health'))).text.includes('"ready"'),
    );
    const many = await ManyClients.open(gateway.url, A, clients);
    expect(await active(gateway)).toBe(clients);
    expect(subscriptionRequests(docs)).toEqual(['+x://a']);
    sendUpdate(docs, 'x://a', { note: 'one' });
    await many.untilReceived(1);
    // A client that got the first update twice would now count three.
    sendUpdate(docs, 'x://a', { note: 'two' });
    expect(await many.untilReceived(2)).toEqual({
      open: clients,
      counts: { 2: clients },
      notes: ['one', 'two'],
    });
  }, 90_000);
});
