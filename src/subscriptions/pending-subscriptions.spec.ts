import { beforeEach, describe, expect, it } from '@jest/globals';
import { outcomeOf, refusalOf, settled } from '../../test/kit/fake-link.js';
import { FakeServer } from '../../test/kit/fake-server.js';
import { FakeSubscriber } from '../../test/kit/fake-subscriber.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { only } from '../../test/kit/offers.js';
import { LINGER_MS, SubscriptionHarness } from '../../test/kit/subscription-harness.js';
import { Cancellation } from '../lib/cancellation/cancellation.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';

const A = 'file:///a';
const PUBLIC_A = 'resource://files/file:///a';

describe('a subscription', () => {
  let files: FakeServer;
  let harness: SubscriptionHarness;
  let client: FakeSubscriber;
  let lines: string[];

  beforeEach(async () => {
    lines = recordLog();
    files = new FakeServer([A]);
    harness = await SubscriptionHarness.open({ files });
    client = new FakeSubscriber('a');
  });

  const rejections = async (): Promise<Record<string, number>> =>
    Object.fromEntries(
      (await harness.scrape()).samples
        .filter(({ name, value }) => name === 'gatehouse_subscription_rejections_total' && value > 0)
        .map(({ labels, value }) => [labels['reason'], value]),
    );

  describe('whose server is being asked', () => {
    let request: Cancellation;
    const ask = (subscriber = client): ReturnType<typeof outcomeOf> => {
      request = new Cancellation();
      return outcomeOf(harness.subscriptions.subscribe(subscriber.contextWith(request), PUBLIC_A));
    };
    beforeEach(() => {
      files.willingness = () => 'waits';
    });

    it('and that is cancelled leaves nothing, here at once and there once it has answered', async () => {
      const outcome = ask();
      await settled();
      request.abort();
      expect(harness.rows).toEqual([]);
      files.accept(A);
      await harness.pass(LINGER_MS);
      expect(outcome.error).toMatchObject({ kind: 'cancelled' });
      expect(files.told).toEqual([`+${A}`, `-${A}`]);
      expect(lines.join()).not.toContain('"subscribed"');
    });

    it('and that is cancelled is nothing to another request for the same', async () => {
      const first = ask();
      const cancelled = request;
      const second = ask();
      await settled();
      cancelled.abort();
      files.accept(A);
      await harness.pass(LINGER_MS);
      expect(harness.rows).toEqual([`a ${A}`]);
      expect(second.error).toBeUndefined();
      expect(first.error).toBeUndefined();
    });

    it('and that is cancelled after the answer stays', async () => {
      ask();
      await settled();
      files.accept(A);
      await harness.pass(0);
      request.abort();
      expect(harness.rows).toEqual([`a ${A}`]);
    });

    it('and that its client loses sight of is refused as what nobody has', async () => {
      const outcome = ask();
      await settled();
      client.see(only('other'));
      files.accept(A);
      await harness.pass(LINGER_MS);
      expect(outcome.error).toMatchObject({ kind: 'nothing-to-subscribe', data: { uri: PUBLIC_A } });
      expect([harness.rows, files.told]).toEqual([[], [`+${A}`, `-${A}`]]);
    });

    it('and is disabled meanwhile is refused and counted as what nobody has', async () => {
      const outcome = ask();
      await settled();
      await harness.enable('files', false);
      expect(outcome.error).toMatchObject({ kind: 'nothing-to-subscribe', data: { uri: PUBLIC_A } });
      expect(await rejections()).toEqual({ unknown: 1 });
    });

    it('and refuses a client that has left is counted as no refusal', async () => {
      ask();
      await settled();
      client.close();
      files.refuse(A);
      await harness.pass(0);
      expect([harness.rows, await rejections()]).toEqual([[], {}]);
    });

    it('and that somebody ends is no success', async () => {
      const outcome = ask();
      await settled();
      const [{ id }] = [...harness.subscribers.table] as [Subscription];
      harness.subscriptions.end(id);
      files.accept(A);
      await harness.pass(0);
      expect(outcome.error).toMatchObject({ kind: 'cancelled' });
    });
  });

  it('that is asked for by a client that saw more when it asked is refused as what nobody has', async () => {
    const { context } = client;
    client.see(only('other'));
    expect(await refusalOf(harness.subscriptions.subscribe(context, PUBLIC_A))).toMatchObject({
      kind: 'nothing-to-subscribe',
    });
    expect([harness.rows, files.told]).toEqual([[], []]);
  });

  it('leaves a line when it ends with its client, or with what the client may see', async () => {
    const other = new FakeSubscriber('b');
    const [one, two] = [await harness.subscribe(client, A), await harness.subscribe(other, A)];
    client.close();
    other.see(only('other'));
    for (const [reason, { id }] of [
      ['client', one],
      ['scope', two],
    ] as const)
      expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
        expect.objectContaining({
          level: 'debug',
          message: `subscription ended with its ${reason}`,
          subscription: id,
        }),
      );
  });
});
