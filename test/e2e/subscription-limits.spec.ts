import { describe, expect, it } from '@jest/globals';
import { hashOf } from '../../src/config/api-key-config.js';
import { startGateway, type Gateway, type GatewayConfig } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import type { Answer } from '../kit/raw-session.js';
import type { ScriptedBackend } from '../kit/scripted-backend.js';
import { Scrape } from '../kit/scrape.js';
import {
  SubscribedClient,
  startSubscribableBackend,
  subscriptionRequests,
} from '../kit/subscribed-client.js';

const OWN = Array.from({ length: 50 }, (_, n) => `x://${n}`);
const uri = (n: number, server = 'docs'): string => `resource://${server}/x://${n}`;
const of = (id: string): Record<string, string> => ({ authorization: `Bearer key-of-${id}` });
const key = (id: string): object => ({ id, hash: hashOf(`key-of-${id}`), projects: ['*'] });

const refusal = (words: string, limit: number): object => ({
  code: -31029,
  message: `LimitExceeded: ${words} may have ${limit} subscriptions`,
  data: { code: 'LimitExceeded', limit },
});

interface Stage {
  readonly docs: ScriptedBackend;
  readonly gateway: Gateway;
}

async function stage(limits: object, more: GatewayConfig = {}, headers = {}): Promise<Stage> {
  const [docs, twin] = await Promise.all([
    startSubscribableBackend(...OWN),
    startSubscribableBackend(...OWN),
  ]);
  const gateway = await startGateway({ mcpServers: { docs: docs.http, twin: twin.http }, limits, ...more });
  await gateway.listed({ resources: ['docs', 'twin'] }, headers);
  return { docs, gateway };
}

const made = (answers: readonly Answer[]): number => answers.filter(({ result }) => result).length;

describe('subscriptions beyond a limit', () => {
  it('of one client are refused, and there is room again as soon as one ends', async () => {
    const { docs, gateway } = await stage({ subscriptionsPerClient: 3 });
    const client = await SubscribedClient.of(gateway.url, uri(0), uri(1), uri(2));
    expect((await client.subscribe(uri(3))).error).toEqual(refusal('a client', 3));
    // What one has counts once, and is no more than that.
    await client.subscribed(uri(2));
    expect(subscriptionRequests(docs)).toEqual(['+x://0', '+x://1', '+x://2']);
    // Others have as many of their own.
    await SubscribedClient.of(gateway.url, uri(3), uri(4), uri(5));
    await client.unsubscribe(uri(0));
    await client.subscribed(uri(3));
    expect((await client.subscribe(uri(0))).error).toEqual(refusal('a client', 3));
    const { text } = await exchange(gateway.urlOf('/metrics'));
    expect(new Scrape(text).value('gatehouse_subscription_rejections_total', { reason: 'limit' })).toBe(2);
    expect(new Scrape(text).value('mcp_active_subscriptions')).toBe(6);
  });

  it('are counted exactly when all come at once', async () => {
    const { docs, gateway } = await stage({ subscriptionsPerClient: 10 });
    const client = await SubscribedClient.open(gateway.url);
    const answers = await Promise.all(OWN.map((_, n) => client.subscribe(uri(n))));
    expect(made(answers)).toBe(10);
    const refused = answers.flatMap(({ error }) => error ?? []);
    expect(refused).toEqual(refused.map(() => refusal('a client', 10)));
    expect(subscriptionRequests(docs)).toHaveLength(10);
  });

  it('of one principal are counted over all its sessions, and of another apart', async () => {
    const auth = { apiKeys: [key('ann'), key('ben')] };
    const { gateway } = await stage({ subscriptionsPerClient: 10 }, { auth }, of('ann'));
    const [one, two, ben] = await Promise.all(
      ['ann', 'ann', 'ben'].map((id) => SubscribedClient.open(gateway.url, { headers: of(id) })),
    );
    const answers = await Promise.all(OWN.map((_, n) => (n % 2 === 0 ? one! : two!).subscribe(uri(n))));
    expect(made(answers)).toBe(10);
    await ben!.subscribed(uri(0));
    expect((await two!.subscribe(uri(49, 'twin'))).error).toEqual(refusal('a client', 10));
    await one!.session.end();
    expect((await two!.subscribe(uri(49, 'twin'))).result).toBeDefined();
  });

  it.each([
    ['to one server', { subscriptionsPerServer: 10 }, 'all clients to one server', 1],
    ['altogether', { subscriptions: 10 }, 'all clients', 0],
  ])('of all clients %s are refused, however many come at once', async (_what, limits, words, elsewhere) => {
    const { docs, gateway } = await stage(limits);
    const clients = await Promise.all(Array.from({ length: 5 }, () => SubscribedClient.open(gateway.url)));
    const answers = await Promise.all(OWN.map((_, n) => clients[n % 5]!.subscribe(uri(n))));
    expect(made(answers)).toBe(10);
    expect(subscriptionRequests(docs)).toHaveLength(10);
    expect(answers.find(({ error }) => error)!.error).toEqual(refusal(words, 10));
    expect(made([await clients[0]!.subscribe(uri(0, 'twin'))])).toBe(elsewhere);
  });
});
