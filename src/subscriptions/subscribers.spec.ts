import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeSubscriber } from '../../test/kit/fake-client.js';
import { only } from '../../test/kit/offers.js';
import { Limits } from '../config/limits.js';
import { GatewayError } from '../core/errors.js';
import type { ResourceAddress } from '../core/resources/resource-uri.js';
import type { RemovedSubscription } from '../core/subscriptions/subscription-table.js';
import { ANONYMOUS, type Principal } from '../mcp/principal.js';
import { Subscribers } from './subscribers.js';

const principal = (id: string): Principal => ({ id, grants: '*' });
const anonymous = (id: string, address: string): FakeSubscriber =>
  new FakeSubscriber(id, ANONYMOUS, `address ${address}`);
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
const limitError = (message: string, limit: number): object => ({
  kind: 'limit-exceeded',
  message: `LimitExceeded: ${message}`,
  data: { code: 'LimitExceeded', limit },
});

const restorable = (id: string, uri = 'x', server = 'db') => ({ id, server, uri, since: 7 });

describe('Subscribers', () => {
  let subscribers: Subscribers;
  let emitted: string[];

  const open = (limits: Partial<Limits> = {}): void => {
    subscribers = new Subscribers(Object.assign(new Limits(), limits));
    emitted = [];
    subscribers.onChange(({ uri }, { id }, isAdded) => emitted.push(`${isAdded ? '+' : '-'}${id} ${uri}`));
  };
  beforeEach(() => open());

  const add = (client: FakeSubscriber, uri: string, server = 'db') =>
    subscribers.add(client, at(server, uri)).subscription;

  const removeServer = (id: string): RemovedSubscription[] =>
    [...subscribers.table].filter(({ server }) => server === id).map((row) => subscribers.remove(row.id)!);

  it('keep client, principal, target and time of a subscription', () => {
    const before = Date.now();
    const row = add(new FakeSubscriber('a', principal('ann')), 'x');
    expect(row).toMatchObject({ subscriber: 'a', principal: 'ann', server: 'db', uri: 'x' });
    expect(row.since).toBeGreaterThanOrEqual(before);
    expect(row.id).toMatch(/^[\w-]{12}$/);
    expect(add(new FakeSubscriber('b', ANONYMOUS, 'address 10.0.0.1'), 'x').principal).toBe(
      'address 10.0.0.1',
    );
  });

  it('find the client of a subscription until it ends', () => {
    const client = new FakeSubscriber('a');
    const row = add(client, 'x');
    expect(subscribers.subscriberOf(row)).toBe(client);
    subscribers.remove(row.id);
    expect(subscribers.subscriberOf(row)).toBeUndefined();
  });

  it('emit each addition and removal once', () => {
    const client = new FakeSubscriber('a');
    const row = add(client, 'x');
    expect(subscribers.add(client, at('db', 'x'))).toMatchObject({ subscription: row, isNew: false });
    subscribers.remove(row.id);
    expect(subscribers.remove(row.id)).toBeUndefined();
    expect(emitted).toEqual(['+a x', '-a x']);
  });

  it('emit each removal to removal listeners', () => {
    const removed: string[] = [];
    subscribers.onRemove(({ uri }, { id }) => removed.push(`${id} ${uri}`));
    const row = add(new FakeSubscriber('a'), 'x');
    subscribers.remove(row.id);
    expect(removed).toEqual(['a x']);
  });

  it('do not call a removed listener', () => {
    const stop = subscribers.onChange(() => emitted.push('again'));
    stop();
    add(new FakeSubscriber('a'), 'x');
    expect(emitted).toEqual(['+a x']);
  });

  describe('limits', () => {
    it.each([
      [
        'one client',
        { subscriptionsPerClient: 3 },
        'a session or listen stream may have at most 3 subscriptions',
      ],
      [
        'one principal',
        { subscriptionsPerPrincipal: 3 },
        'all sessions and listen streams of a principal together may have at most 3 subscriptions',
      ],
      [
        'one server',
        { subscriptionsPerServer: 3 },
        'all clients together may have at most 3 subscriptions to one server',
      ],
      ['the gateway', { subscriptions: 3 }, 'all clients together may have at most 3 subscriptions'],
    ])('refuse a subscription beyond the limit of %s', (_whose, limits, message) => {
      open(limits);
      const client = new FakeSubscriber('a', principal('ann'));
      for (const uri of ['x', 'y', 'z']) add(client, uri);
      const fourth = at('db', 'w');
      expect(refusal(() => subscribers.add(client, fourth))).toEqual(limitError(message, 3));
      expect(refusal(() => subscribers.requireWithinLimits(client, fourth))).toEqual(limitError(message, 3));
      expect(subscribers.table.size).toBe(3);
      expect(emitted).toHaveLength(3);
    });

    it('count each client and each server separately', () => {
      open({ subscriptionsPerClient: 1 });
      add(new FakeSubscriber('a'), 'x');
      add(new FakeSubscriber('b'), 'x');
      open({ subscriptionsPerServer: 1 });
      add(new FakeSubscriber('a'), 'x', 'db');
      add(new FakeSubscriber('a'), 'x', 'git');
      expect(subscribers.table.size).toBe(2);
    });

    it('count all sessions of a principal together, and anonymous sessions by address', () => {
      open({ subscriptionsPerPrincipal: 2 });
      const [first, second] = [
        new FakeSubscriber('a', principal('ann')),
        new FakeSubscriber('b', principal('ann')),
      ];
      add(first, 'x');
      add(second, 'x');
      const reached = limitError(
        'all sessions and listen streams of a principal together may have at most 2 subscriptions',
        2,
      );
      expect(refusal(() => add(second, 'y'))).toEqual(reached);
      expect(refusal(() => add(first, 'y'))).toEqual(reached);
      add(new FakeSubscriber('c', principal('ben')), 'y');
      for (const id of ['d', 'e']) add(anonymous(id, '10.0.0.1'), 'x');
      expect(refusal(() => add(anonymous('f', '10.0.0.1'), 'x'))).toEqual(reached);
      for (const uri of ['x', 'y']) add(anonymous('g', '10.0.0.2'), uri);
      expect(subscribers.table.size).toBe(7);
    });

    it('count the subscriptions of a restored anonymous session when its address is known', () => {
      open({ subscriptionsPerPrincipal: 2 });
      const clients = ['a', 'b', 'c'].map((id) => new FakeSubscriber(id, ANONYMOUS, ANONYMOUS.id));
      for (const client of clients) expect(subscribers.restore(client, restorable(client.id))).toBeDefined();
      for (const client of clients) {
        client.quotaKey = 'address 10.0.0.1';
        subscribers.quotaKeyChanged(client);
      }
      expect(subscribers.table.countOfPrincipal('address 10.0.0.1')).toBe(3);
      clients[0]!.close();
      const fresh = new FakeSubscriber('d', ANONYMOUS, 'address 10.0.0.1');
      expect(refusal(() => add(fresh, 'x'))).toMatchObject({ kind: 'limit-exceeded' });
      for (const client of clients) client.close();
      expect(subscribers.table.countOfPrincipal('address 10.0.0.1')).toBe(0);
    });

    it('accept a session whose principal reached the limit of a client in another session', () => {
      open({ subscriptionsPerClient: 2 });
      for (const session of ['lost', 'back'])
        for (const uri of ['x', 'y']) add(new FakeSubscriber(session, principal('ann')), uri);
      expect(subscribers.table.size).toBe(4);
    });

    it('accept a repeated subscription at the limit', () => {
      open({ subscriptionsPerClient: 1 });
      const client = new FakeSubscriber('a');
      const row = add(client, 'x');
      subscribers.requireWithinLimits(client, at('db', 'x'));
      expect(add(client, 'x')).toBe(row);
    });

    it('accept a subscription at once when another one ended', () => {
      open({ subscriptionsPerClient: 1, subscriptionsPerPrincipal: 1 });
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

  describe('when a client closes', () => {
    it('remove its subscriptions and report the last ones of their targets', () => {
      const [leaving, staying] = [new FakeSubscriber('a'), new FakeSubscriber('b')];
      const ended: RemovedSubscription[] = [];
      subscribers.onEnd((removed) => ended.push(...removed));
      add(leaving, 'x');
      add(leaving, 'y', 'git');
      add(staying, 'x');
      leaving.close();
      expect(ended.map(({ subscription: { uri }, wasLast }) => [uri, wasLast])).toEqual([
        ['x', false],
        ['y', true],
      ]);
      expect(emitted.slice(3)).toEqual(['-a x', '-a y']);
      expect([...subscribers.table].map(({ subscriber }) => subscriber)).toEqual(['b']);
    });

    it('do not emit the end of subscriptions that were removed by request', () => {
      let ended = 0;
      subscribers.onEnd(() => ended++);
      subscribers.remove(add(new FakeSubscriber('a'), 'x').id);
      removeServer('db');
      expect(ended).toBe(0);
    });

    it('remove a subscription of an already closed client at once', () => {
      const client = new FakeSubscriber('a');
      client.close();
      const ended: string[] = [];
      subscribers.onEnd((removed) => ended.push(...urisIn(removed)));
      const row = add(client, 'x');
      expect(subscribers.table.size).toBe(0);
      expect(subscribers.subscriberOf(row)).toBeUndefined();
      expect(emitted).toEqual(['+a x', '-a x']);
      expect(ended).toEqual(['x']);
    });
  });

  describe('when the scope of a client changes', () => {
    it('remove the subscriptions to servers out of scope and keep the others', () => {
      const client = new FakeSubscriber('a');
      const ended: string[] = [];
      subscribers.onEnd((removed) => ended.push(...urisIn(removed)));
      for (const server of ['db', 'git', 'mail']) add(client, `${server}://x`, server);
      // The clock stands still, so that all fits into one slice.
      const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
      client.setScope(only('git', 'mail'));
      expect(ended).toEqual(['db://x']);
      client.setScope(only('git', 'mail', 'db'));
      expect([...subscribers.table].map(({ server }) => server)).toEqual(['git', 'mail']);
      client.setScope(only());
      expect(ended).toEqual(['db://x', 'git://x', 'mail://x']);
      clock.mockRestore();
    });
  });

  it('remove the subscriptions of many clients that lose access in slices, and of each by its last scope', async () => {
    const clients = Array.from({ length: 50 }, (_, n) => new FakeSubscriber(`c${n}`));
    for (const client of clients) add(client, 'x', 'db');
    const now = jest.spyOn(performance, 'now');
    let time = 0;
    now.mockImplementation(() => (time += 1));
    for (const client of clients) client.setScope(only());
    const left = subscribers.table.size;
    expect(left).toBeGreaterThan(30);
    clients.at(-1)!.setScope(only('db'));
    const deadline = Date.now() + 10_000;
    while (subscribers.table.size > 1 && Date.now() < deadline) await yieldToEventLoop();
    now.mockRestore();
    expect([...subscribers.table].map(({ subscriber }) => subscriber)).toEqual(['c49']);
  });

  it('remove all subscriptions of a server and report the last ones of their targets', () => {
    const [a, b] = [new FakeSubscriber('a'), new FakeSubscriber('b')];
    for (const client of [a, b]) for (const server of ['db', 'git']) add(client, 'x', server);
    const removed = removeServer('db');
    expect(removed.map(({ wasLast }) => wasLast)).toEqual([false, true]);
    expect([...subscribers.table].map(({ server }) => server)).toEqual(['git', 'git']);
  });

  it.each<[string, (client: FakeSubscriber) => void]>([
    ['all are removed', () => [...subscribers.table].forEach(({ id }) => subscribers.remove(id))],
    ['all servers are removed', () => ['db', 'git'].forEach((server) => removeServer(server))],
    ['its scope is empty', (client) => client.setScope(only())],
    ['it closes', (client) => client.close()],
  ])('observe a client while it has subscriptions, until %s', (_how, end) => {
    const client = new FakeSubscriber('a');
    add(client, 'x');
    add(client, 'y');
    add(client, 'x', 'git');
    expect([client.closeListeners.size, client.scopeListeners.size]).toEqual([1, 1]);
    end(client);
    expect(client.hasNoListeners).toBe(true);
    expect(subscribers.table.size).toBe(0);
  });

  it('observe a client again when it subscribes again', () => {
    const client = new FakeSubscriber('a');
    subscribers.remove(add(client, 'x').id);
    add(client, 'y');
    expect([client.closeListeners.size, client.scopeListeners.size]).toEqual([1, 1]);
    client.close();
    expect(subscribers.table.size).toBe(0);
  });

  describe('restored from a previous process', () => {
    it('keep id and time, and emit the addition', () => {
      const client = new FakeSubscriber('a', principal('ann'));
      const { subscription } = subscribers.restore(client, restorable('id'))!;
      expect(subscription).toEqual({ ...restorable('id'), subscriber: 'a', principal: 'ann' });
      expect(emitted).toEqual(['+a x']);
      expect(subscribers.subscriberOf(subscription)).toBe(client);
      client.close();
      expect(subscribers.table.size).toBe(0);
    });

    it('are dropped for a server out of scope', () => {
      const client = new FakeSubscriber('a');
      client.setScope(only('git'));
      expect(subscribers.restore(client, restorable('id'))).toBeUndefined();
      expect(subscribers.table.size).toBe(0);
      expect(client.hasNoListeners).toBe(true);
    });

    it('are dropped beyond the limit', () => {
      open({ subscriptionsPerClient: 2 });
      const client = new FakeSubscriber('a');
      for (const id of ['1', '2', '3']) subscribers.restore(client, restorable(id, id));
      expect([...subscribers.table].map(({ id }) => id)).toEqual(['1', '2']);
    });
  });
});
