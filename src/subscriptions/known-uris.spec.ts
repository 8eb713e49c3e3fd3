import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeSubscriber } from '../../test/kit/fake-client.js';
import { FakeServer } from '../../test/kit/fake-server.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { SubscriptionHarness } from '../../test/kit/subscription-harness.js';

const LISTED = ['file:///A', 'FILE:///b%2fc', 'x://host/d', 'x://Two', 'x://two'];

describe('an update under an equivalent URI', () => {
  let server: FakeServer;
  let harness: SubscriptionHarness;

  beforeEach(async () => {
    recordLog();
    server = new FakeServer(LISTED);
    server.templates = ['t://{id}'];
    harness = await SubscriptionHarness.open({ s: server });
  });

  /** The own URIs of the updates that a subscriber gets. */
  async function updatesOf(subscribed: readonly string[], updated: string): Promise<string[]> {
    const client = new FakeSubscriber('a');
    for (const uri of subscribed) await harness.subscribe(client, `resource://s/${uri}`);
    server.update(updated);
    return client.uris.map((uri) => uri.replace('resource://s/', '')).toSorted();
  }

  it.each([
    ['with another case of the scheme', ['file:///A'], 'FILE:///A', ['file:///A']],
    ['with an encoded character', ['file:///A'], 'file:///%41', ['file:///A']],
    ['with another case of the host', ['x://host/d'], 'x://HOST/d', ['x://host/d']],
    [
      'of a resource that is not listed in normal form',
      ['FILE:///b%2fc'],
      'file:///b%2Fc',
      ['FILE:///b%2fc'],
    ],
    ['not in normal form either', ['FILE:///b%2fc'], 'File:///b%2Fc', ['FILE:///b%2fc']],
    ['of a part', ['file:///A'], 'FILE:///A/1', ['file:///A/1']],
    ['of a match of a pattern', ['file:///*'], 'file:///%41', ['file:///A']],
    [
      'of two subscriptions, to the resource and a pattern',
      ['file:///A', 'file:///*'],
      'file:///%41',
      ['file:///A'],
    ],
    ['of an instance of a template', ['t://B'], 't://%42', ['t://B']],
    [
      'of a resource that another subscription writes differently',
      ['t://%42', 't://B'],
      't://B',
      ['t://%42', 't://B'],
    ],
  ])('%s is delivered under the URI that the client knows', async (_what, subscribed, updated, expected) => {
    expect(await updatesOf(subscribed, updated)).toEqual(expected);
  });

  it.each([
    ['of a path in another case', ['file:///A'], 'file:///a'],
    ['of another listed resource', ['x://two'], 'x://Two'],
    ['of a URI without subscribers', ['file:///A'], 'FILE:///other'],
  ])('%s is not delivered', async (_what, subscribed, updated) => {
    expect(await updatesOf(subscribed, updated)).toEqual([]);
    const scrape = await harness.scrape();
    expect(scrape.value('mcp_subscription_events_total', { outcome: 'unheard' })).toBe(1);
  });

  it('is not delivered after the subscription ended', async () => {
    const client = new FakeSubscriber('a');
    await harness.subscribe(client, 'FILE:///b%2fc');
    harness.unsubscribe(client, 'FILE:///b%2fc');
    server.update('file:///b%2Fc');
    expect(client.uris).toEqual([]);
  });
});
