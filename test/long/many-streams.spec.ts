import { describe, expect, it } from '@jest/globals';
import { ManyClients, maxOpenFiles, withMaxOpenFiles } from '../kit/many-clients.js';
import { launchGateway, writeConfig } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { Scrape } from '../kit/scrape.js';
import { startSubscribableServer, subscriptionRequests, sendUpdate } from '../kit/subscribed-client.js';
import { until } from '../kit/until.js';

const A = 'resource://docs/x://a';
/** Open files of a process in addition to the streams. */
const OTHER_FILES = 300;
const WANTED = 10_000;

/** `openMany` opens that many clients of the resource at this URL. */
async function updateMany(openMany: (url: string, count: number) => Promise<ManyClients>) {
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
  const many = await openMany(gateway.url, clients);
  const { text } = await exchange(gateway.urlOf('/metrics'));
  expect(new Scrape(text).value('mcp_active_subscriptions')).toBe(clients);
  expect(subscriptionRequests(docs)).toEqual(['+x://a']);
  sendUpdate(docs, 'x://a', { note: 'one' });
  await many.untilReceived(1);
  // A client that got the first update twice would now count three.
  sendUpdate(docs, 'x://a', { note: 'two' });
  return { clients, report: await many.untilReceived(2) };
}

/** What all clients have received. */
const received = (clients: number): object => ({
  open: clients,
  counts: { 2: clients },
  notes: ['one', 'two'],
});

describe('many clients', () => {
  it('get an update exactly once with 10,000 event streams', async () => {
    const { clients, report } = await updateMany((url, count) => ManyClients.open(url, A, count));
    expect(report).toEqual(received(clients));
  }, 240_000);

  it('get an update exactly once with 10,000 listen streams', async () => {
    const { clients, report } = await updateMany((url, count) => ManyClients.openListens(url, A, count));
    expect(report).toEqual(received(clients));
  }, 240_000);
});
