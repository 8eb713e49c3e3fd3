import { describe, expect, it } from '@jest/globals';
import { hashOf } from '../../src/config/api-key-config.js';
import { startGateway, type Gateway, type GatewayConfig } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import type { Answer } from '../kit/raw-session.js';
import type { ScriptedServer } from '../kit/scripted-server/scripted-server.js';
import { Scrape } from '../kit/scrape.js';
import { SubscribedClient, startSubscribableServer, subscriptionRequests } from '../kit/subscribed-client.js';

const OWN = Array.from({ length: 50 }, (_, n) => `x://${n}`);
const uri = (n: number, server = 'docs'): string => `resource://${server}/x://${n}`;
const keyHeader = (id: string): Record<string, string> => ({ authorization: `Bearer key-of-${id}` });
const key = (id: string): object => ({ id, hash: hashOf(`key-of-${id}`), projects: ['*'] });

const refusal = (subject: string, limit: number, where = ''): object => ({
  code: -31029,
  message: `LimitExceeded: ${subject} may have at most ${limit} subscriptions${where}`,
  data: { code: 'LimitExceeded', limit },
});

interface Setup {
  readonly docs: ScriptedServer;
  readonly gateway: Gateway;
}

async function setUp(limits: object, more: GatewayConfig = {}, headers = {}): Promise<Setup> {
  const [docs, other] = await Promise.all([startSubscribableServer(...OWN), startSubscribableServer(...OWN)]);
  const gateway = await startGateway({ mcpServers: { docs: docs.http, other: other.http }, limits, ...more });
  await gateway.listed({ resources: ['docs', 'other'] }, headers);
  return { docs, gateway };
}

const countAccepted = (answers: readonly Answer[]): number => answers.filter(({ result }) => result).length;

describe('subscriptions beyond a limit', () => {
  it('of one client are refused until one of its subscriptions ends', async () => {
    const { docs, gateway } = await setUp({ subscriptionsPerClient: 3 });
    const client = await SubscribedClient.of(gateway.url, uri(0), uri(1), uri(2));
    expect((await client.subscribe(uri(3))).error).toEqual(refusal('a session or listen stream', 3));
    // A repeated subscription counts once.
    await client.subscribed(uri(2));
    expect(subscriptionRequests(docs)).toEqual(['+x://0', '+x://1', '+x://2']);
    // The limit of another client is counted separately.
    await SubscribedClient.of(gateway.url, uri(3), uri(4), uri(5));
    await client.unsubscribe(uri(0));
    await client.subscribed(uri(3));
    expect((await client.subscribe(uri(0))).error).toEqual(refusal('a session or listen stream', 3));
    const { text } = await exchange(gateway.urlOf('/metrics'));
    expect(new Scrape(text).value('gatehouse_subscription_rejections_total', { reason: 'limit' })).toBe(2);
    expect(new Scrape(text).value('mcp_active_subscriptions')).toBe(6);
  });

  it('are counted exactly under concurrent requests', async () => {
    const { docs, gateway } = await setUp({ subscriptionsPerClient: 10 });
    const client = await SubscribedClient.open(gateway.url);
    const answers = await Promise.all(OWN.map((_, n) => client.subscribe(uri(n))));
    expect(countAccepted(answers)).toBe(10);
    const refused = answers.flatMap(({ error }) => error ?? []);
    expect(refused).toEqual(refused.map(() => refusal('a session or listen stream', 10)));
    expect(subscriptionRequests(docs)).toHaveLength(10);
  });

  it('of one session are not counted for another session of its principal, which has a limit of its own', async () => {
    const auth = { apiKeys: [key('ann'), key('ben')] };
    const limits = { subscriptionsPerClient: 10, subscriptionsPerPrincipal: 15 };
    const { gateway } = await setUp(limits, { auth }, keyHeader('ann'));
    const [lost, back, ben] = await Promise.all(
      ['ann', 'ann', 'ben'].map((id) => SubscribedClient.open(gateway.url, { headers: keyHeader(id) })),
    );
    const subscribeAll = (client: SubscribedClient): Promise<Answer[]> =>
      Promise.all(OWN.map((_, n) => client.subscribe(uri(n))));
    expect(countAccepted(await subscribeAll(lost!))).toBe(10);
    expect((await lost!.subscribe(uri(49, 'other'))).error).toEqual(
      refusal('a session or listen stream', 10),
    );
    expect(countAccepted(await subscribeAll(back!))).toBe(5);
    expect((await back!.subscribe(uri(49, 'other'))).error).toEqual(
      refusal('all sessions and listen streams of a principal together', 15),
    );
    await ben!.subscribed(uri(0));
    await lost!.session.end();
    expect((await back!.subscribe(uri(49, 'other'))).result).toBeDefined();
  });

  it.each([
    ['to one server', { subscriptionsPerServer: 10 }, ' to one server', 1],
    ['in total', { subscriptions: 10 }, '', 0],
  ])(
    'of all clients %s are refused, also under concurrent requests',
    async (_case, limits, where, acceptedElsewhere) => {
      const { docs, gateway } = await setUp(limits);
      const clients = await Promise.all(Array.from({ length: 5 }, () => SubscribedClient.open(gateway.url)));
      const answers = await Promise.all(OWN.map((_, n) => clients[n % 5]!.subscribe(uri(n))));
      expect(countAccepted(answers)).toBe(10);
      expect(subscriptionRequests(docs)).toHaveLength(10);
      expect(answers.find(({ error }) => error)!.error).toEqual(refusal('all clients together', 10, where));
      expect(countAccepted([await clients[0]!.subscribe(uri(0, 'other'))])).toBe(acceptedElsewhere);
    },
  );
});
