import { beforeEach, describe, expect, it } from '@jest/globals';
import { SubscriptionTable } from './subscription-table.js';
import type { Subscription } from './subscription-target.js';
import { UpdateRouting } from './update-routing.js';

type Route = Generator<Subscription, number, undefined>;

/** Visits all subscriptions of a route. Returns the number of subscribers that get the update. */
function visitAll(route: Route, visit: (subscription: Subscription) => void): number {
  let next = route.next();
  for (; !next.done; next = route.next()) visit(next.value);
  return next.value;
}

describe('UpdateRouting', () => {
  let table: SubscriptionTable;
  let routing: UpdateRouting<string>;
  let delivered: string[];
  let removed: string[];

  beforeEach(() => {
    let last = 0;
    table = new SubscriptionTable(() => `${++last}`);
    delivered = [];
    removed = [];
    routing = new UpdateRouting(table, (outcome) => removed.push(outcome));
  });

  const subscribe = (subscriber: string, uri: string): string =>
    table.add({ subscriber, principal: undefined, server: 'files', uri }, 1).subscription.id;
  const update = (uri: string, text = uri): number =>
    visitAll(routing.route('files', uri, text), ({ subscriber }) => delivered.push(`${subscriber} ${text}`));

  it('routes an update to exactly its subscribers', () => {
    subscribe('anna', 'file:///a');
    subscribe('ben', 'file:///b');
    subscribe('cleo', 'file:///*');
    expect(update('file:///a')).toBe(2);
    expect(delivered.toSorted()).toEqual(['anna file:///a', 'cleo file:///a']);
  });

  it('routes an update without subscribers to none', () => {
    subscribe('anna', 'file:///a');
    expect(update('file:///b')).toBe(0);
    expect(routing.route('other', 'file:///a', '').next()).toEqual({ done: true, value: 0 });
    expect(delivered).toEqual([]);
  });

  it('routes an update once to a subscriber with several subscriptions that cover it', () => {
    for (const uri of ['file:///a', 'file:///a/b', 'file:///*', '*']) subscribe('anna', uri);
    for (const uri of ['file:///*', '*']) subscribe('ben', uri);
    expect(update('file:///a/b')).toBe(2);
    expect(delivered.toSorted()).toEqual(['anna file:///a/b', 'ben file:///a/b']);
  });

  it('routes an update for some subscribers to those of them that are subscribed', () => {
    for (const uri of ['file:///a', '*']) subscribe('anna', uri);
    for (const name of ['ben', 'dora']) subscribe(name, 'file:///a');
    for (const only of [['anna', 'cleo', 'dora'], ['cleo']])
      visitAll(routing.route('files', 'file:///a', 'x', only), ({ subscriber }) =>
        delivered.push(subscriber),
      );
    expect(delivered.toSorted()).toEqual(['anna', 'dora']);
  });

  it('leaves out a subscriber that is removed during the delivery', () => {
    for (const name of ['anna', 'ben', 'cleo']) subscribe(name, 'file:///a');
    const route = routing.route('files', 'file:///a', 'x');
    expect(route.next().value).toMatchObject({ subscriber: 'anna' });
    table.removeSubscriber('ben');
    expect(route.next().value).toMatchObject({ subscriber: 'cleo' });
    expect(route.next()).toEqual({ done: true, value: 2 });
  });

  it('holds the latest update of each resource until the acknowledgement', () => {
    const id = subscribe('anna', 'file:///a');
    subscribe('ben', 'file:///a');
    routing.expectAcknowledgement(id);
    expect(update('file:///a', '1')).toBe(2);
    update('file:///a/part', '2');
    update('file:///a', '3');
    expect(delivered).toEqual(['ben 1', 'ben 2', 'ben 3']);
    expect([...routing.acknowledged(id)]).toEqual(['2', '3']);
    expect(removed).toEqual(['coalesced']);
    update('file:///a', '4');
    expect(delivered.slice(3)).toEqual(['anna 4', 'ben 4']);
    expect([...routing.acknowledged(id)]).toEqual([]);
  });

  it('delivers through an acknowledged subscription while another one is unacknowledged', () => {
    subscribe('anna', 'file:///a');
    const waiting = subscribe('anna', '*');
    subscribe('ben', '*');
    routing.expectAcknowledgement(waiting);
    update('file:///a');
    expect(delivered.toSorted()).toEqual(['anna file:///a', 'ben file:///a']);
  });

  it('delivers through a pattern while the subscription to the resource itself is unacknowledged', () => {
    const narrow = subscribe('anna', 'file:///a');
    subscribe('anna', '*');
    subscribe('ben', '*');
    routing.expectAcknowledgement(narrow);
    update('file:///a');
    expect(delivered.toSorted()).toEqual(['anna file:///a', 'ben file:///a']);
    expect(routing.acknowledged(narrow)).toEqual([]);
  });

  it('holds an update of two unacknowledged subscriptions of one subscriber for the first acknowledgement', () => {
    const ids = ['file:///a', '*'].map((uri) => subscribe('anna', uri));
    for (const id of ids) routing.expectAcknowledgement(id);
    expect(update('file:///a', '1')).toBe(1);
    expect(ids.map((id) => routing.acknowledged(id))).toEqual([['1'], []]);
  });

  it('keeps a held update for the other subscription when one of two is abandoned', () => {
    const [narrow, wide] = ['file:///a', '*'].map((uri) => subscribe('anna', uri)) as [string, string];
    for (const id of [narrow, wide]) routing.expectAcknowledgement(id);
    update('file:///a', '1');
    routing.abandoned(narrow);
    expect(routing.acknowledged(wide)).toEqual(['1']);
  });

  it('keeps a held update when the subscription that it was to be delivered through ends before', () => {
    const narrow = subscribe('anna', 'file:///a');
    const wide = subscribe('anna', '*');
    subscribe('ben', '*');
    routing.expectAcknowledgement(narrow);
    const route = routing.route('files', 'file:///a', '1');
    table.removeById(wide);
    expect(visitAll(route, ({ subscriber }) => delivered.push(subscriber))).toBe(2);
    expect([delivered, routing.acknowledged(narrow)]).toEqual([['ben'], ['1']]);
  });

  it('delivers no update that the acknowledgement of another subscription has released meanwhile', () => {
    const narrow = subscribe('anna', 'file:///a');
    for (const subscriber of ['ben', 'anna']) subscribe(subscriber, '*');
    routing.expectAcknowledgement(narrow);
    const route = routing.route('files', 'file:///a', '1');
    expect(route.next().value).toMatchObject({ subscriber: 'ben' });
    expect(routing.acknowledged(narrow)).toEqual(['1']);
    expect(route.next()).toEqual({ done: true, value: 2 });
  });

  it('drops a held update when a later one was delivered through another subscription', () => {
    const narrow = subscribe('anna', 'file:///a');
    const wide = subscribe('anna', '*');
    for (const id of [narrow, wide]) routing.expectAcknowledgement(id);
    update('file:///a');
    expect([...routing.acknowledged(narrow)]).toEqual(['file:///a']);
    update('file:///a');
    expect(delivered).toEqual(['anna file:///a']);
    expect([...routing.acknowledged(wide)]).toEqual([]);
    expect(removed).toEqual(['coalesced']);
  });

  it('drops held updates of an abandoned subscription', () => {
    const id = subscribe('anna', 'file:///a');
    routing.expectAcknowledgement(id);
    update('file:///a');
    routing.abandoned(id);
    expect([...routing.acknowledged(id)]).toEqual([]);
  });

  it('keeps held updates when the acknowledgement is expected twice', () => {
    const id = subscribe('anna', 'file:///a');
    routing.expectAcknowledgement(id);
    update('file:///a');
    routing.expectAcknowledgement(id);
    expect([...routing.acknowledged(id)]).toEqual(['file:///a']);
  });

  it('holds at most 1000 updates, the latest', () => {
    const id = subscribe('anna', '*');
    routing.expectAcknowledgement(id);
    for (let i = 0; i < 1500; i++) update(`file:///${i}`);
    const held = [...routing.acknowledged(id)];
    expect(held).toHaveLength(1000);
    expect(held.at(0)).toBe('file:///500');
    expect(held.at(-1)).toBe('file:///1499');
    expect(removed).toEqual(Array.from({ length: 500 }, () => 'dropped'));
  });
});
