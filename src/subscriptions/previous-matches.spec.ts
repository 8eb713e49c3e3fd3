import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeSubscriber } from '../../test/kit/fake-client.js';
import { FakeServer, manyUris } from '../../test/kit/fake-server.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { SubscriptionHarness } from '../../test/kit/subscription-harness.js';
import type { Subscriber } from '../mcp/mcp-context.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import { SubscriptionTable } from '../core/subscriptions/subscription-table.js';
import { SubscriptionsByLinkOwner } from './subscriptions-by-link-owner.js';
import { PreviousMatches } from './previous-matches.js';
import type { UpstreamLink } from './upstream-link.js';

const linkOf = (owner?: string): UpstreamLink =>
  ({ owner, reconciler: { uris: ['x://a'] } }) as unknown as UpstreamLink;

describe('a pattern with more than 1000 matches', () => {
  const [first, last] = [manyUris(1500).slice(0, 500), manyUris(1500).slice(500)];
  let server: FakeServer;
  let harness: SubscriptionHarness;
  let client: FakeSubscriber;

  beforeEach(async () => {
    recordLog();
    server = new FakeServer(last);
    harness = await SubscriptionHarness.open({ s: server });
    client = new FakeSubscriber('a');
    await harness.subscribe(client, 'resource://s/x://*');
    await harness.list(server, ...first, ...last);
    await harness.pass(1000);
  });

  const settle = async (): Promise<void> => {
    for (let round = 0; round < 100; round++) await harness.pass(10);
  };

  it.each<[string, () => Promise<void>]>([
    ['a reconnect', () => harness.reconnect(server)],
    [
      'a gap in the notifications',
      () => {
        server.held.clear();
        server.link.emitGap();
        return Promise.resolve();
      },
    ],
  ])('watches the same resources after %s', async (_what, act) => {
    await act();
    await settle();
    expect([...server.held].toSorted()).toEqual(last);
  });

  it('watches the same resources when another client subscribes to it', async () => {
    await harness.subscribe(new FakeSubscriber('b'), 'resource://s/x://*');
    await settle();
    expect([...server.held].toSorted()).toEqual(last);
  });
});

describe('PreviousMatches', () => {
  let table: SubscriptionTable;
  let previous: PreviousMatches;
  let owned: SubscriptionsByLinkOwner;
  const add = (subscriber: string, uri: string) =>
    table.add({ subscriber, principal: undefined, server: 's', uri }, 1).subscription;

  beforeEach(() => {
    let last = 0;
    table = new SubscriptionTable(() => `${++last}`);
    owned = new SubscriptionsByLinkOwner(table);
    previous = new PreviousMatches({ table, owned });
  });

  it('keeps the URIs of a lost link for the next link of the same owner, once', () => {
    add('a', 'x://*');
    for (const owner of [undefined, 'a', 'b']) previous.store('s', linkOf(owner));
    expect([...previous.take('s', undefined)]).toEqual(['x://a']);
    expect([...previous.take('s', 'a')]).toEqual(['x://a']);
    for (const owner of [undefined, 'a', 'b']) expect(previous.take('s', owner).size).toBe(0);
  });

  it('keeps nothing without patterns, and drops everything with the last one', () => {
    add('a', 'x://a');
    previous.store('s', linkOf());
    expect(previous.take('s', undefined).size).toBe(0);
    const row = add('a', 'x://*');
    for (const owner of [undefined, 'a']) previous.store('s', linkOf(owner));
    table.removeById(row.id);
    previous.rowRemoved(row);
    for (const owner of [undefined, 'a']) expect(previous.take('s', owner).size).toBe(0);
  });

  it('keeps the URIs of a link for all subscribers of its owner', () => {
    for (const id of ['a', 'b']) owned.add({ id, linkOwnerId: 'owner' } as Subscriber);
    const rows = ['a', 'b'].map((id) => add(id, 'x://*'));
    previous.store('s', linkOf('owner'));
    const remove = (row: Subscription): void => {
      table.removeById(row.id);
      previous.rowRemoved(row);
      owned.remove(row.subscriber);
    };
    remove(rows[0]!);
    expect(previous.take('s', 'owner').size).toBe(1);
    previous.store('s', linkOf('owner'));
    remove(rows[1]!);
    expect(previous.take('s', 'owner').size).toBe(0);
  });
});
