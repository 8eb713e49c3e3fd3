import { describe, expect, it } from '@jest/globals';
import { ManyClients } from '../kit/many-clients.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
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
});
