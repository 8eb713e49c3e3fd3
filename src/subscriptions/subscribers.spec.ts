import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeSubscriber } from '../../test/kit/fake-subscriber.js';
import { only } from '../../test/kit/offers.js';
import { Limits } from '../config/limits.js';
import { GatewayError } from '../core/errors.js';
import type { ResourceAddress } from '../core/resources/resource-uri.js';
import type { RemovedSubscription } from '../core/subscriptions/subscription-table.js';
import type { Principal } from '../mcp/principal.js';
import { Subscribers } from './subscribers.js';

const principal = (id: string): Principal => ({ id, grants: '*' });
const at = (server: string, uri: string): ResourceAddress => ({ server, uri });
const urisIn = (removed: readonly RemovedSubscription[]): string[] =>
  removed.map(({ subscription }) => subscription.uri);

const refusal = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    const { kind, message, data } = error as GatewayError;
    return { kind, message, data };
  }
};
const tooMany = (whose: string, limit: number): object => ({
  kind: 'limit-exceeded',
  message: `LimitExceeded: ${whose} may have ${limit} subscriptions`,
  data: { code: 'LimitExceeded', limit },
});

const earlier = (id: string, uri = 'x', server = 'db') => ({ id, server, uri, since: 7 });

describe('Subscribers', () => {
  let subscribers: Subscribers;
  let heard: string[];

  const open = (limits: Partial<Limits> = {}): void => {
    subscribers = new Subscribers(Object.assign(new Limits(), limits));
    heard = [];
    subscribers.onChange(({ uri }, { id }, isThere) => heard.push(`${isThere ? '+' : '-'}${id} ${uri}`));
  };
  beforeEach(() => open());

  const add = (client: FakeSubscriber, uri: string, server = 'db') =>
    subscribers.add(client, at(server, uri)).subscription;

  it('keep who is subscribed to what, since when, and on whose account', () => {
    const before = Date.now();
    const row = add(new FakeSubscriber('a', principal('ann')), 'x');
    expect(row).toMatchObject({ subscriber: 'a', principal: 'ann', server: 'db', uri: 'x' });
    expect(row.since).toBeGreaterThanOrEqual(before);
    expect(row.id).toMatch(/^[\w-]{12}$/);
    expect(add(new FakeSubscriber('b'), 'x').principal).toBeUndefined();
  });

  it('find the client behind a subscription, as long as there is one', () => {
    const client = new FakeSubscriber('a');
    const row = add(client, 'x');
    expect(subscribers.client(row)).toBe(client);
    subscribers.remove(row.id);
    expect(subscribers.client(row)).toBeUndefined();
  });

  it('tell of every subscription that comes and goes, and of one that is there already not again', () => {
    const client = new FakeSubscriber('a');
    const row = add(client, 'x');
    expect(subscribers.add(client, at('db', 'x'))).toMatchObject({ subscription: row, isNew: false });
    subscribers.remove(row.id);
    expect(subscribers.remove(row.id)).toBeUndefined();
    expect(heard).toEqual(['+a x', '-a x']);
  });

  it('tell nobody who has stopped listening', () => {
    const stop = subscribers.onChange(() => heard.push('again'));
    stop();
    add(new FakeSubscriber('a'), 'x');
    expect(heard).toEqual(['+a x']);
  });

  describe('let have', () => {
    it.each([
      ['one client', { subscriptionsPerClient: 3 }, 'a client'],
      ['one server', { subscriptionsPerServer: 3 }, 'all clients to one server'],
      ['the house', { subscriptions: 3 }, 'all clients'],
    ])('%s as many as it may have, and not one more', (_whose, limits, words) => {
      open(limits);
      const client = new FakeSubscriber('a');
      for (const uri of ['x', 'y', 'z']) add(client, uri);
      const fourth = at('db', 'w');
      expect(refusal(() => subscribers.add(client, fourth))).toEqual(tooMany(words, 3));
      expect(refusal(() => subscribers.requireWithinLimits(client, fourth))).toEqual(tooMany(words, 3));
      expect(subscribers.table.size).toBe(3);
      expect(heard).toHaveLength(3);
    });

    it('another client, and another server, what they may have', () => {
      open({ subscriptionsPerClient: 1 });
      add(new FakeSubscriber('a'), 'x');
      add(new FakeSubscriber('b'), 'x');
      open({ subscriptionsPerServer: 1 });
      add(new FakeSubscriber('a'), 'x', 'db');
      add(new FakeSubscriber('a'), 'x', 'git');
      expect(subscribers.table.size).toBe(2);
    });

    it('a principal no more for opening more sessions, and strangers each their own', () => {
      open({ subscriptionsPerClient: 2 });
      const [first, second] = [
        new FakeSubscriber('a', principal('ann')),
        new FakeSubscriber('b', principal('ann')),
      ];
      add(first, 'x');
      add(second, 'x');
      expect(refusal(() => add(second, 'y'))).toEqual(tooMany('a client', 2));
      expect(refusal(() => add(first, 'y'))).toEqual(tooMany('a client', 2));
      add(new FakeSubscriber('c', principal('ben')), 'y');
      for (const stranger of ['d', 'e']) for (const uri of ['x', 'y']) add(new FakeSubscriber(stranger), uri);
      expect(subscribers.table.size).toBe(7);
    });

    it('somebody who has it already ask again when there is no room', () => {
      open({ subscriptionsPerClient: 1 });
      const client = new FakeSubscriber('a');
      const row = add(client, 'x');
      subscribers.requireWithinLimits(client, at('db', 'x'));
      expect(add(client, 'x')).toBe(row);
    });

    it('the place of one that ended to the next at once', () => {
      open({ subscriptionsPerClient: 1 });
      const client = new FakeSubscriber('a', principal('ann'));
      const other = new FakeSubscriber('b', principal('ann'));
      subscribers.remove(add(client, 'x').id);
      subscribers.remove(add(other, 'y').id);
      add(client, 'z');
      client.close();
      add(other, 'w');
      expect(subscribers.table.size).toBe(1);
    });
  });

  describe('when a client leaves', () => {
    it('forget everything of it and nothing of others, and say of what it was the last', () => {
      const [leaving, staying] = [new FakeSubscriber('a'), new FakeSubscriber('b')];
      const left: RemovedSubscription[] = [];
      subscribers.onEnd((removed) => left.push(...removed));
      add(leaving, 'x');
      add(leaving, 'y', 'git');
      add(staying, 'x');
      leaving.close();
      expect(left.map(({ subscription: { uri }, wasLast }) => [uri, wasLast])).toEqual([
        ['x', false],
        ['y', true],
      ]);
      expect(heard.slice(3)).toEqual(['-a x', '-a y']);
      expect([...subscribers.table].map(({ subscriber }) => subscriber)).toEqual(['b']);
    });

    it('say nothing of subscriptions that somebody ended', () => {
      let left = 0;
      subscribers.onEnd(() => left++);
      subscribers.remove(add(new FakeSubscriber('a'), 'x').id);
      subscribers.removeServer('db');
      expect(left).toBe(0);
    });

    it('keep nothing of one that had left before it was subscribed', () => {
      const client = new FakeSubscriber('a');
      client.close();
      const left: string[] = [];
      subscribers.onEnd((removed) => left.push(...urisIn(removed)));
      const row = add(client, 'x');
      expect(subscribers.table.size).toBe(0);
      expect(subscribers.client(row)).toBeUndefined();
      expect(heard).toEqual(['+a x', '-a x']);
      expect(left).toEqual(['x']);
    });
  });

  describe('when a client may see other servers than before', () => {
    it('forget what it does not see any more, and keep the rest', () => {
      const client = new FakeSubscriber('a');
      const left: string[] = [];
      subscribers.onEnd((removed) => left.push(...urisIn(removed)));
      for (const server of ['db', 'git', 'mail']) add(client, `${server}://x`, server);
      client.see(only('git', 'mail'));
      expect(left).toEqual(['db://x']);
      client.see(only('git', 'mail', 'db'));
      expect([...subscribers.table].map(({ server }) => server)).toEqual(['git', 'mail']);
      client.see(only());
      expect(left).toEqual(['db://x', 'git://x', 'mail://x']);
    });
  });

  it('forget a whole server, and say of what it was the last', () => {
    const [a, b] = [new FakeSubscriber('a'), new FakeSubscriber('b')];
    for (const client of [a, b]) for (const server of ['db', 'git']) add(client, 'x', server);
    const removed = subscribers.removeServer('db');
    expect(removed.map(({ wasLast }) => wasLast)).toEqual([false, true]);
    expect([...subscribers.table].map(({ server }) => server)).toEqual(['git', 'git']);
  });

  it.each<[string, (client: FakeSubscriber) => void]>([
    ['they are ended one by one', () => [...subscribers.table].forEach(({ id }) => subscribers.remove(id))],
    ['their servers are', () => ['db', 'git'].forEach((server) => subscribers.removeServer(server))],
    ['it sees nothing any more', (client) => client.see(only())],
    ['it leaves', (client) => client.close()],
  ])('listen to a client as long as it has subscriptions, and no longer when %s', (_how, end) => {
    const client = new FakeSubscriber('a');
    add(client, 'x');
    add(client, 'y');
    add(client, 'x', 'git');
    expect([client.closeListeners.size, client.scopeListeners.size]).toEqual([1, 1]);
    end(client);
    expect(client.isForgotten).toBe(true);
    expect(subscribers.table.size).toBe(0);
  });

  it('meet a client again that had nothing left', () => {
    const client = new FakeSubscriber('a');
    subscribers.remove(add(client, 'x').id);
    add(client, 'y');
    expect([client.closeListeners.size, client.scopeListeners.size]).toEqual([1, 1]);
    client.close();
    expect(subscribers.table.size).toBe(0);
  });

  describe('of an earlier life', () => {
    it('are as they were, and told of', () => {
      const client = new FakeSubscriber('a', principal('ann'));
      const { subscription } = subscribers.restore(client, earlier('id'))!;
      expect(subscription).toEqual({ ...earlier('id'), subscriber: 'a', principal: 'ann' });
      expect(heard).toEqual(['+a x']);
      expect(subscribers.client(subscription)).toBe(client);
      client.close();
      expect(subscribers.table.size).toBe(0);
    });

    it('are none to a server that the client may not see any more', () => {
      const client = new FakeSubscriber('a');
      client.see(only('git'));
      expect(subscribers.restore(client, earlier('id'))).toBeUndefined();
      expect(subscribers.table.size).toBe(0);
      expect(client.isForgotten).toBe(true);
    });

    it('are no more than there may be', () => {
      open({ subscriptionsPerClient: 2 });
      const client = new FakeSubscriber('a');
      for (const id of ['1', '2', '3']) subscribers.restore(client, earlier(id, id));
      expect([...subscribers.table].map(({ id }) => id)).toEqual(['1', '2']);
    });
  });

  it('tell of all that go with a server, also of several of one client', () => {
    const client = new FakeSubscriber('a');
    for (const uri of ['x', 'y']) add(client, uri);
    subscribers.removeServer('db');
    expect(heard.toSorted()).toEqual(['+a x', '+a y', '-a x', '-a y']);
    expect(client.isForgotten).toBe(true);
  });
});
