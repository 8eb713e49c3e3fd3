import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeSubscriber } from '../../test/kit/fake-client.js';
import { outcomeOf, refusalOf, flushPromises } from '../../test/kit/promises.js';
import { FakeServer } from '../../test/kit/fake-server.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { only } from '../../test/kit/offers.js';
import { LINGER_MS, SubscriptionHarness } from '../../test/kit/subscription-harness.js';
import { Cancellation } from '../lib/cancellation/cancellation.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';

const A = 'file:///a';
const PUBLIC_A = 'resource://files/file:///a';

describe('Subscriptions', () => {
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

  it('delivers an update when the acknowledgement is written, however late that is', async () => {
    const listeners: (() => void)[] = [];
    client.written = (listener) => listeners.push(listener);
    await harness.subscriptions.subscribe(client.context, A);
    files.update(A);
    await harness.acknowledged();
    expect(client.delivered).toEqual([]);
    for (const listener of listeners) listener();
    expect(client.uris).toEqual([PUBLIC_A]);
    files.update(A);
    expect(client.delivered).toHaveLength(2);
  });

  describe('before the server has responded', () => {
    let request: Cancellation;
    const subscribe = (subscriber = client): ReturnType<typeof outcomeOf> => {
      request = new Cancellation();
      return outcomeOf(harness.subscriptions.subscribe(subscriber.contextWith(request), PUBLIC_A));
    };
    beforeEach(() => {
      files.replyToSubscribe = () => 'waits';
    });

    it('remove the row of a cancelled request at once, and unsubscribe after the response', async () => {
      const outcome = subscribe();
      await flushPromises();
      request.abort();
      expect(harness.rows).toEqual([]);
      files.accept(A);
      await harness.pass(LINGER_MS);
      expect(outcome.error).toMatchObject({ kind: 'cancelled' });
      expect(files.subscriptionRequests).toEqual([`+${A}`, `-${A}`]);
      expect(lines.join()).not.toContain('"subscribed"');
    });

    it('keep the row of a cancelled request that another request waits for', async () => {
      const first = subscribe();
      const cancelled = request;
      const second = subscribe();
      await flushPromises();
      cancelled.abort();
      files.accept(A);
      await harness.pass(LINGER_MS);
      expect(harness.rows).toEqual([`a ${A}`]);
      expect(second.error).toBeUndefined();
      expect(first.error).toBeUndefined();
    });

    it('keep the row of a request that is cancelled after the response', async () => {
      subscribe();
      await flushPromises();
      files.accept(A);
      await harness.pass(0);
      request.abort();
      expect(harness.rows).toEqual([`a ${A}`]);
    });

    it('refuse the resource as unknown if the client loses access to it', async () => {
      const outcome = subscribe();
      await flushPromises();
      client.setScope(only('other'));
      files.accept(A);
      await harness.pass(LINGER_MS);
      expect(outcome.error).toMatchObject({ kind: 'nothing-to-subscribe', data: { uri: PUBLIC_A } });
      expect([harness.rows, files.subscriptionRequests]).toEqual([[], [`+${A}`, `-${A}`]]);
    });

    it('refuse and count the resource as unknown if its server is disabled', async () => {
      const outcome = subscribe();
      await flushPromises();
      await harness.enable('files', false);
      expect(outcome.error).toMatchObject({ kind: 'nothing-to-subscribe', data: { uri: PUBLIC_A } });
      expect(await rejections()).toEqual({ unknown: 1 });
    });

    it('count no rejection if the client has closed before the refusal', async () => {
      subscribe();
      await flushPromises();
      client.close();
      files.refuse(A);
      await harness.pass(0);
      expect([harness.rows, await rejections()]).toEqual([[], {}]);
    });

    it('fail a request whose subscription an administrator ends', async () => {
      const outcome = subscribe();
      await flushPromises();
      const [{ id }] = [...harness.subscribers.table] as [Subscription];
      harness.subscriptions.end(id, 'unsubscribed');
      files.accept(A);
      await harness.pass(0);
      expect(outcome.error).toMatchObject({ kind: 'cancelled' });
    });
  });

  it('refuse the resource as unknown if it left the scope of the client after the request was received', async () => {
    const { context } = client;
    client.setScope(only('other'));
    expect(await refusalOf(harness.subscriptions.subscribe(context, PUBLIC_A))).toMatchObject({
      kind: 'nothing-to-subscribe',
    });
    expect([harness.rows, files.subscriptionRequests]).toEqual([[], []]);
  });

  it('log why a subscription ended when its session closes or loses access to the server', async () => {
    const other = new FakeSubscriber('b');
    const [one, two] = [await harness.subscribe(client, A), await harness.subscribe(other, A)];
    client.close();
    other.setScope(only('other'));
    for (const [reason, { id }] of [
      ['session closed', one],
      ['access lost', two],
    ] as const)
      expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
        expect.objectContaining({
          level: 'debug',
          message: 'subscription ended',
          subscription: id,
          reason,
        }),
      );
  });
});
