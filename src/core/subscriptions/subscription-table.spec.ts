import { beforeEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { isSameOrPart, patternOf } from '../resources/resource-pattern.js';
import { SubscriptionTable, type NewSubscription } from './subscription-table.js';
import type { Subscription } from './subscription-target.js';

function counter(): () => string {
  let last = 0;
  return () => `s${++last}`;
}

const newSubscription = (
  subscriber: string,
  uri: string,
  server = 'files',
  principal?: string,
): NewSubscription => ({
  subscriber,
  principal,
  server,
  uri,
});

describe('SubscriptionTable', () => {
  let table: SubscriptionTable;

  beforeEach(() => {
    table = new SubscriptionTable(counter());
  });

  const add = (...args: Parameters<typeof newSubscription>): Subscription =>
    table.add(newSubscription(...args), 1).subscription;
  const subscribersOf = (uri: string, server = 'files'): string[] => {
    const found: string[] = [];
    table.targetAt({ server, uri })?.forEach(({ subscriber }) => found.push(subscriber));
    return found;
  };
  const coveredBy = (uri: string): string[] =>
    table
      .covering('files', uri)
      .map((target) => target.uri)
      .toSorted();

  it('keeps subscriber, principal, target and time of a subscription under an id', () => {
    const { subscription } = table.add(newSubscription('anna', 'file:///a', 'files', 'key-1'), 1700);
    expect(subscription).toEqual({
      id: 's1',
      subscriber: 'anna',
      principal: 'key-1',
      server: 'files',
      uri: 'file:///a',
      since: 1700,
    });
    expect(table.get('s1')).toBe(subscription);
    expect(table.find({ subscriber: 'anna', server: 'files', uri: 'file:///a' })).toBe(subscription);
    expect([...table]).toEqual([subscription]);
  });

  it('counts a subscription once, however often it is added', () => {
    const first = table.add(newSubscription('anna', 'file:///a'), 1);
    expect(first).toMatchObject({ isNew: true, isFirst: true });
    expect(table.add(newSubscription('anna', 'file:///a'), 2)).toEqual({
      subscription: first.subscription,
      isNew: false,
      isFirst: false,
    });
    expect(table.size).toBe(1);
  });

  it('reports the first and the last subscription of a target', () => {
    expect(table.add(newSubscription('anna', 'file:///a'), 1).isFirst).toBe(true);
    expect(table.add(newSubscription('ben', 'file:///a'), 1).isFirst).toBe(false);
    expect(table.add(newSubscription('ben', 'file:///a', 'other'), 1).isFirst).toBe(true);
    expect(table.remove(newSubscription('anna', 'file:///a'))?.wasLast).toBe(false);
    expect(table.removeById('s2')?.wasLast).toBe(true);
    expect(table.add(newSubscription('anna', 'file:///a'), 1).isFirst).toBe(true);
  });

  it('removes nothing when there is no such subscription', () => {
    add('anna', 'file:///a');
    expect(table.remove(newSubscription('ben', 'file:///a'))).toBeUndefined();
    expect(table.remove(newSubscription('anna', 'file:///b'))).toBeUndefined();
    expect(table.remove(newSubscription('anna', 'file:///a', 'other'))).toBeUndefined();
    expect(table.removeById('s9')).toBeUndefined();
    expect(table.removeSubscriber('ben')).toEqual([]);
    expect(table.removeServer('other')).toEqual([]);
    expect(table.size).toBe(1);
  });

  it('removes all subscriptions of a subscriber and no others', () => {
    for (const uri of ['file:///a', 'file:///b', 'file:///*']) add('anna', uri);
    add('ben', 'file:///b');
    const removed = table.removeSubscriber('anna');
    expect(removed.map(({ subscription, wasLast }) => [subscription.uri, wasLast])).toEqual([
      ['file:///a', true],
      ['file:///b', false],
      ['file:///*', true],
    ]);
    expect(Array.from(table, ({ subscriber }) => subscriber)).toEqual(['ben']);
  });

  it('removes all subscriptions of a server and no others', () => {
    for (const subscriber of ['anna', 'ben']) for (const uri of ['file:///a', '*']) add(subscriber, uri);
    add('anna', 'file:///a', 'other');
    const removed = table.removeServer('files');
    expect(removed.map(({ wasLast }) => wasLast)).toEqual([false, true, false, true]);
    expect([...table.targetsOf('files')]).toEqual([]);
    expect(Array.from(table.ofSubscriber('anna'), ({ server }) => server)).toEqual(['other']);
    expect(table.countOfSubscriber('ben')).toBe(0);
  });

  it('counts by subscriber, principal and server', () => {
    add('anna', 'file:///a', 'files', 'key');
    add('ben', 'file:///a', 'files', 'key');
    add('ben', 'file:///b', 'other');
    const counts = (): number[] => [
      table.size,
      table.countOfSubscriber('ben'),
      table.countOfPrincipal('key'),
      table.countOfServer('files'),
    ];
    expect(counts()).toEqual([3, 2, 2, 2]);
    table.removeSubscriber('ben');
    expect(counts()).toEqual([1, 0, 1, 1]);
    table.removeSubscriber('anna');
    expect(counts()).toEqual([0, 0, 0, 0]);
  });

  it('keeps no entries when all subscriptions are removed', () => {
    for (const uri of ['file:///a', 'file:///a/b', '*', 'db://{table}']) {
      add('anna', uri, 'files', 'key');
      add('ben', uri, 'other', 'key');
    }
    table.removeSubscriber('anna');
    table.removeServer('other');
    const maps = Object.values(table).filter((field) => field instanceof Map);
    expect(maps.map((map) => map.size)).toEqual([0, 0, 0, 0]);
  });

  it('restores a subscription under its id, or under a new one when that is taken', () => {
    const earlier: Subscription = {
      ...newSubscription('anna', 'file:///a'),
      id: 's1',
      since: 7,
      principal: undefined,
    };
    expect(table.restore(earlier)).toEqual({ subscription: earlier, isNew: true, isFirst: true });
    expect(table.restore({ ...earlier, id: 's5' })).toMatchObject({ subscription: earlier, isNew: false });
    expect(table.restore({ ...earlier, subscriber: 'ben' }).subscription).toMatchObject({
      id: 's2',
      since: 7,
    });
  });

  it('gives each subscription an unused id', () => {
    table.restore({ ...newSubscription('anna', 'file:///a'), id: 's1', since: 7, principal: undefined });
    expect(add('ben', 'file:///a').id).toBe('s2');
  });

  it('visits subscriptions in the order of their addition, except those removed meanwhile', () => {
    for (const subscriber of ['anna', 'ben', 'cleo', 'dan']) add(subscriber, 'file:///a');
    const visited: string[] = [];
    table.resource('files', 'file:///a')?.forEach(({ subscriber }) => {
      visited.push(subscriber);
      table.removeSubscriber(subscriber);
      table.removeSubscriber('cleo');
    });
    expect(visited).toEqual(['anna', 'ben', 'dan']);
    expect(table.size).toBe(0);
  });

  it('separates subscribers with unusual ids and URIs', () => {
    for (const name of ['__proto__', 'constructor', '']) add(name, name, name, name);
    expect(table.size).toBe(3);
    expect(subscribersOf('__proto__', '__proto__')).toEqual(['__proto__']);
    expect(table.countOfPrincipal('constructor')).toBe(1);
  });

  it('finds the targets of an update: the resource, resources that contain it, and patterns', () => {
    const covering = [
      'file:///',
      'file:///a',
      'file:///a/',
      'file:///a/b',
      '*',
      'file:///a*',
      'file:///{x}/{y}',
    ];
    for (const uri of [...covering, 'file:///a/bc', 'file:///a/b/c', 'file:///b*', 'file:///{x}']) {
      add('anna', uri);
    }
    add('anna', 'file:///a/b', 'other');
    expect(coveredBy('file:///a/b')).toEqual(covering.toSorted());
    expect(table.covering('unknown', 'file:///a/b')).toEqual([]);
  });

  it.each([
    ['file:///a', 'file:///a', true],
    ['file:///a', 'file:///a/b', false],
    ['file:///a/*', 'file:///a/b', true],
    ['file:///a/*', 'file:///b', false],
    ['db://{table}', 'db://users', true],
  ])('with a subscription to %s, returns from isWanted for %s: %s', (subscribed, uri, wanted) => {
    add('anna', subscribed);
    expect(table.isWanted('files', uri)).toBe(wanted);
    expect(table.isWanted('other', uri)).toBe(false);
  });

  it('finds the same targets as a scan of all targets', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', '/', '?', '#', '*'), maxLength: 5 });
    fc.assert(
      fc.property(
        fc.uniqueArray(texts, { maxLength: 30 }),
        fc.array(fc.nat(29)),
        texts,
        (uris, gone, uri) => {
          table = new SubscriptionTable(counter());
          for (const each of uris) add('anna', each);
          for (const index of gone) table.remove(newSubscription('anna', uris[index] ?? 'none'));
          const left = uris.filter((_, index) => !gone.includes(index));
          const scan = left.filter((each) => {
            const pattern = patternOf(each);
            return pattern ? pattern.matches(uri) : uri.startsWith(each) && isSameOrPart(each, uri);
          });
          expect(coveredBy(uri)).toEqual(scan.toSorted());
          expect(Array.from(table.targetsOf('files'), (target) => target.uri).toSorted()).toEqual(
            left.toSorted(),
          );
        },
      ),
      { numRuns: 500 },
    );
  });

  it('finds the targets of a long URI in linear time', () => {
    const slashes = '/'.repeat(100_000);
    for (let length = 100; length <= 100_000; length += 100) add('anna', slashes.slice(0, length));
    expect(table.covering('files', slashes)).toHaveLength(1000);
    expect(table.covering('files', `${slashes.slice(1)}a`)).toHaveLength(999);
  });
});
