import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeSubscriber } from '../../test/kit/fake-client.js';
import { outcomeOf, refusalOf, flushPromises } from '../../test/kit/promises.js';
import { FakeServer } from '../../test/kit/fake-server.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { only } from '../../test/kit/offers.js';
import { LINGER_MS, SubscriptionHarness } from '../../test/kit/subscription-harness.js';

const A = 'file:///a';
const PUBLIC_A = 'resource://files/file:///a';

describe('subscription counts', () => {
  let files: FakeServer;
  let harness: SubscriptionHarness;
  let client: FakeSubscriber;

  /** In total, of the server, of the principal and of the subscriber. */
  const counts = (): number[] => {
    const { table } = harness.subscribers;
    return [
      table.size,
      table.countOfServer('files'),
      table.countOfPrincipal('ann'),
      table.countOfSubscriber('a'),
    ];
  };

  beforeEach(async () => {
    recordLog();
    files = new FakeServer([A, 'file:///b']);
    harness = await SubscriptionHarness.open({ files });
    client = new FakeSubscriber('a', { id: 'ann', grants: '*' });
  });

  it.each<[string, () => unknown]>([
    ['the session is closed', () => client.close()],
    ['the client unsubscribes', () => [A, 'file:///b'].forEach((uri) => harness.unsubscribe(client, uri))],
    ['the client loses access to the server', () => client.setScope(only('other'))],
    ['the server is removed', () => harness.remove('files')],
  ])('return to zero when %s', async (_what, end) => {
    await harness.subscribe(client, PUBLIC_A);
    await harness.subscribe(client, PUBLIC_A);
    harness.restore(client, 'files', 'file:///b');
    harness.restore(client, 'files', 'file:///b');
    await harness.pass(0);
    expect(counts()).toEqual([2, 2, 2, 2]);
    await end();
    expect(counts()).toEqual([0, 0, 0, 0]);
  });

  it('include a subscription that the server has not confirmed, until it refuses', async () => {
    files.replyToSubscribe = () => 'waits';
    const outcome = outcomeOf(harness.subscribe(client, PUBLIC_A));
    await flushPromises();
    expect(counts()).toEqual([1, 1, 1, 1]);
    files.refuse(A);
    await harness.pass(LINGER_MS);
    expect(outcome.error).toMatchObject({ kind: 'subscription-failed' });
    expect(counts()).toEqual([0, 0, 0, 0]);
  });

  it('are not changed by a subscription that is refused or not restored', async () => {
    await refusalOf(harness.subscribe(client, 'file:///nope'));
    harness.restore(client, 'unknown', A);
    client.setScope(only('other'));
    harness.restore(client, 'files', A);
    expect(counts()).toEqual([0, 0, 0, 0]);
  });
});
