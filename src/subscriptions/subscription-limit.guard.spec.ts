import type { ExecutionContext } from '@nestjs/common';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeServer } from '../../test/kit/fake-server.js';
import { FakeSubscriber } from '../../test/kit/fake-client.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { outcomeOf } from '../../test/kit/promises.js';
import { SubscriptionHarness } from '../../test/kit/subscription-harness.js';
import { SubscriptionLimitGuard } from './subscription-limit.guard.js';

describe('SubscriptionLimitGuard', () => {
  let server: FakeServer;
  let harness: SubscriptionHarness;
  let client: FakeSubscriber;
  let guard: SubscriptionLimitGuard;

  beforeEach(async () => {
    recordLog();
    server = new FakeServer(['x://a', 'x://b', 'x://c']);
    harness = await SubscriptionHarness.open({ s: server }, { limits: { subscriptionsPerClient: 2 } });
    client = new FakeSubscriber('a');
    guard = new SubscriptionLimitGuard(harness.subscriptions);
    for (const uri of ['x://a', 'x://b']) await harness.subscribe(client, uri);
  });

  const canActivate = (params: unknown, by = client): boolean | Promise<boolean> =>
    guard.canActivate({
      switchToRpc: () => ({ getContext: () => by.context, getData: () => params }),
    } as unknown as ExecutionContext);

  it('refuses and counts a subscription beyond the limit without a request to the server', async () => {
    expect(() => canActivate({ uri: 'x://c' })).toThrow(
      'LimitExceeded: a session or listen stream may have at most 2 subscriptions',
    );
    expect(server.subscriptionRequests).toEqual(['+x://a', '+x://b']);
    const scrape = await harness.scrape();
    expect(scrape.value('gatehouse_subscription_rejections_total', { reason: 'limit' })).toBe(1);
  });

  it.each(['x://a', 'resource://s/x://b', 's_x___a'])(
    'accepts %s, to which the client is subscribed already',
    (uri) => {
      expect(canActivate({ uri })).toBe(true);
    },
  );

  it('accepts a subscription below the limit', () => {
    expect(canActivate({ uri: 'x://c' }, new FakeSubscriber('b'))).toBe(true);
    harness.unsubscribe(client, 'x://a');
    expect(canActivate({ uri: 'x://c' })).toBe(true);
  });

  it('accepts an unknown URI, which the handler refuses', () => {
    expect(canActivate({ uri: 'x://nope' })).toBe(true);
  });

  describe('with a resource that a server lists for a session alone', () => {
    const OWN = 'y://own';

    beforeEach(async () => {
      const isolated = new FakeServer(['y://shared']);
      harness = await SubscriptionHarness.open(
        { s: server, t: isolated },
        { limits: { subscriptionsPerClient: 2 }, entries: { t: { isolation: 'session' } } },
      );
      guard = new SubscriptionLimitGuard(harness.subscriptions);
      isolated.resources = [OWN];
    });

    it('refuses a subscription beyond the limit before the client has listed', async () => {
      for (const uri of ['x://a', 'x://b']) await harness.subscribe(client, uri);
      const outcome = outcomeOf(Promise.resolve(canActivate({ uri: OWN })));
      await harness.pass(1000);
      expect(outcome.error).toMatchObject({ kind: 'limit-exceeded' });
    });

    it('leaves a subscription within the limit to the handler, which waits for the list too', async () => {
      const outcome = outcomeOf(harness.subscriptions.subscribe(client.context, OWN));
      await harness.pass(1000);
      expect(outcome).toMatchObject({ value: { server: 't', uri: OWN } });
    });
  });

  it.each([undefined, {}, { uri: 7 }, { uri: null }, { uri: ['x://a'] }])(
    'refuses the params %j',
    (params) => {
      expect(() => canActivate(params)).toThrow(expect.objectContaining({ kind: 'invalid-params' }));
    },
  );
});
