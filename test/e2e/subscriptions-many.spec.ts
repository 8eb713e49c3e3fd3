import { describe, expect, it } from '@jest/globals';
import { ManyClients } from '../kit/many-clients.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { until } from '../kit/until.js';
import { Scrape } from '../kit/scrape.js';
import {
  untilRequested,
  startSubscribableServer,
  subscriptionRequests,
  sendUpdate,
} from '../kit/subscribed-client.js';

const A = 'resource://docs/x://a';

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
  });

  it('with listen streams share the upstream subscription with sessions', async () => {
    const docs = await startSubscribableServer('x://a');
    const limits = { connectionsPerPrincipal: 5000 };
    const gateway = await startGateway({ limits, mcpServers: { docs: docs.http } });
    await gateway.listed({ resources: ['docs'] });
    const listens = await ManyClients.openListens(gateway.url, A, 1000);
    const sessions = await ManyClients.open(gateway.url, A, 500);
    sendUpdate(docs, 'x://a', { note: 'one' });
    sendUpdate(docs, 'x://a', { note: 'two' });
    for (const [many, open] of [
      [listens, 1000],
      [sessions, 500],
    ] as const)
      expect(await many.untilReceived(2)).toEqual({ open, counts: { 2: open }, notes: ['one', 'two'] });
    await listens.closeStreams();
    await until('only the sessions are subscribed', async () => (await active(gateway)) === 500);
    expect(subscriptionRequests(docs)).toEqual(['+x://a']);
  });
});
