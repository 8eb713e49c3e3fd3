import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeClient, FakeSubscriber } from '../../test/kit/fake-client.js';
import { FakeServer, manyUris } from '../../test/kit/fake-server.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { only } from '../../test/kit/offers.js';
import { outcomeOf } from '../../test/kit/promises.js';
import { LINGER_MS, SubscriptionHarness, type HarnessOptions } from '../../test/kit/subscription-harness.js';
import type { Link } from '../backends/link/link.js';
import { GatewayError, limitExceeded } from '../core/errors.js';
import { deferred } from '../../test/kit/until.js';
import { Cancellation } from '../lib/cancellation/cancellation.js';
import { CONFIRMATION_WAIT_MS, type ListenedResources } from './listen-subscriptions.js';

const A = 'file:///a';
const B = 'file:///b';
const PUBLIC_A = 'resource://files/file:///a';
const PUBLIC_B = 'resource://files/file:///b';

const UNKNOWN = Array.from({ length: 20 }, (_, n) => `file:///unknown/${n}`);

describe('ListenSubscriptions', () => {
  let files: FakeServer;
  let harness: SubscriptionHarness;
  let listen: FakeSubscriber;
  let request: Cancellation;

  async function open(options: HarnessOptions = {}, servers = { files }): Promise<void> {
    harness = await SubscriptionHarness.open(servers, options);
    listen = FakeSubscriber.listen('a');
    request = new Cancellation();
  }

  beforeEach(() => {
    recordLog();
    files = new FakeServer([A, B]);
  });

  const begin = (...uris: string[]): Promise<ListenedResources> =>
    harness.listens.subscribe(listen.contextWith(request), uris);

  /** Lets the timers of `ms` fire, and returns the honoured URIs. */
  async function honoured(uris: readonly string[], ms = 0): Promise<readonly string[]> {
    const outcome = outcomeOf(begin(...uris));
    await harness.pass(ms);
    const resources = outcome.value;
    if (!resources) throw outcome.error ?? new Error('it still waits');
    resources.acknowledged();
    return resources.honoured;
  }

  const rejections = async (reason: string): Promise<number | undefined> =>
    (await harness.scrape()).value('gatehouse_subscription_rejections_total', { reason });

  it('honours the URIs that its server confirmed, as the client wrote them', async () => {
    await open();
    expect(await honoured([B, PUBLIC_A])).toEqual([B, PUBLIC_A]);
    expect(files.subscriptionRequests.toSorted()).toEqual([`+${A}`, `+${B}`]);
  });

  it('subscribes once to a resource that several URIs name', async () => {
    await open();
    expect(await honoured([A, PUBLIC_A, A])).toEqual([A, PUBLIC_A]);
    expect(harness.rows).toEqual([`a ${A}`]);
    files.update(A);
    expect(listen.uris).toEqual([PUBLIC_A]);
  });

  it('shares the upstream subscription with sessions and other listen streams', async () => {
    await open();
    const session = new FakeSubscriber('s');
    await harness.subscribe(session, A);
    await honoured([A]);
    listen = FakeSubscriber.listen('b');
    await honoured([A]);
    expect(files.subscriptionRequests).toEqual([`+${A}`]);
    files.update(A, { n: 1 });
    expect(session.updates).toEqual([{ uri: PUBLIC_A, n: 1 }]);
    expect(listen.updates).toEqual([{ uri: PUBLIC_A, n: 1 }]);
    session.close();
    listen.close();
    await harness.pass(LINGER_MS);
    expect(files.subscriptionRequests).toEqual([`+${A}`]);
  });

  it('ends its subscriptions when the stream is closed', async () => {
    await open();
    await honoured([A, B]);
    listen.close();
    expect(harness.rows).toEqual([]);
    expect(listen.hasNoListeners).toBe(true);
    await harness.pass(LINGER_MS);
    expect(files.held.size).toBe(0);
  });

  it('leaves out unknown URIs and those out of scope alike', async () => {
    await open({}, { files, db: new FakeServer(['db://a']) } as { files: FakeServer });
    listen.setScope(only('files'));
    expect(await honoured(['file:///none', 'resource://db/db://a', 'db://a', A, 'x'])).toEqual([A]);
    expect(await rejections('unknown')).toBe(4);
  });

  it('looks unknown URIs up, and leaves them out, in slices', async () => {
    await open();
    // Every reading of the clock ends a slice.
    let now = performance.now();
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => (now += 100));
    const subscribing = outcomeOf(begin(...UNKNOWN));
    let iterations = 0;
    for (; !subscribing.value; iterations++) await new Promise((resolve) => setImmediate(resolve));
    clock.mockRestore();
    expect(subscribing.value.honoured).toEqual([]);
    expect(iterations).toBeGreaterThanOrEqual(2 * UNKNOWN.length);
  });

  it('refuses a request with more than ten times as many URIs as a stream may subscribe', async () => {
    await open({ limits: { subscriptionsPerClient: 2 } });
    expect(await honoured([A, ...UNKNOWN.slice(1)])).toEqual([A]);
    await expect(begin(A, ...UNKNOWN)).rejects.toMatchObject({
      kind: 'limit-exceeded',
      message: 'LimitExceeded: a listen stream may name at most 20 URIs',
    });
    expect([harness.rows, await rejections('limit')]).toEqual([[`a ${A}`], 1]);
  });

  it('leaves out what the server refuses', async () => {
    await open();
    files.replyToSubscribe = (uri) => (uri === A ? 'refuses' : 'takes');
    expect(await honoured([A, B])).toEqual([B]);
    expect(harness.rows).toEqual([`a ${B}`]);
    expect(await rejections('failed')).toBe(1);
  });

  it('accepts patterns and templates', async () => {
    files.templates = ['db://{id}'];
    await open();
    expect(await honoured(['resource://files/file:///*', 'db://{id}', 'db://7'])).toHaveLength(3);
    expect(files.held).toEqual(new Set([A, B, 'db://7']));
    files.update(A);
    files.update('db://7');
    expect(listen.uris).toEqual([PUBLIC_A, 'resource://files/db://7']);
  });

  describe('before the acknowledgement', () => {
    it('holds the updates', async () => {
      await open();
      files.replyToSubscribe = (uri) => (uri === A ? 'takes' : 'waits');
      const outcome = outcomeOf(begin(A, B));
      await harness.pass(0);
      files.update(A);
      await harness.pass(0);
      expect([outcome.value, listen.updates]).toEqual([undefined, []]);
      files.accept(B);
      await harness.pass(0);
      expect(listen.updates).toEqual([]);
      outcome.value!.acknowledged();
      expect(listen.uris).toEqual([PUBLIC_A]);
    });

    it('waits no longer than the limit for a server that does not answer, and honours the URI', async () => {
      await open({ entries: { files: { timeoutMs: 60_000 } } });
      files.replyToSubscribe = () => 'waits';
      const outcome = outcomeOf(begin(A));
      await harness.pass(CONFIRMATION_WAIT_MS - 1);
      expect(outcome.value).toBeUndefined();
      await harness.pass(1);
      expect(outcome.value!.honoured).toEqual([A]);
      outcome.value!.acknowledged();
      files.accept(A);
      await harness.pass(0);
      files.update(A);
      expect(listen.uris).toEqual([PUBLIC_A]);
    });

    it('keeps trying after a refusal that comes later than the acknowledgement', async () => {
      await open({ entries: { files: { timeoutMs: 60_000 } } });
      files.replyToSubscribe = () => 'waits';
      expect(await honoured([A], CONFIRMATION_WAIT_MS)).toEqual([A]);
      files.replyToSubscribe = () => 'takes';
      files.refuse(A);
      await harness.pass(0);
      expect(files.held).toEqual(new Set([A]));
      expect(await rejections('failed')).toBe(0);
    });

    it('waits no longer when the request is cancelled', async () => {
      await open();
      files.replyToSubscribe = () => 'waits';
      const outcome = outcomeOf(begin(A));
      await harness.pass(0);
      listen.close();
      request.abort();
      await harness.pass(0);
      expect(outcome.value!.honoured).toEqual([]);
      expect(harness.rows).toEqual([]);
    });

    it('leaves out resources of a server that leaves the scope', async () => {
      await open();
      files.replyToSubscribe = () => 'waits';
      const outcome = outcomeOf(begin(A));
      await harness.pass(0);
      listen.setScope(only('db'));
      await harness.pass(1000);
      expect(outcome.value!.honoured).toEqual([]);
    });
  });

  describe('a server that is not available', () => {
    it('gets its subscriptions when it is connected again, and the stream one update of each', async () => {
      await open();
      files.isReachable = false;
      files.link.disconnect();
      await harness.pass(0);
      expect(await honoured([A, B])).toEqual([A, B]);
      expect(await rejections('unavailable')).toBe(0);
      files.isReachable = true;
      await harness.pass(60_000);
      expect(files.held).toEqual(new Set([A, B]));
      expect(listen.uris.toSorted()).toEqual([PUBLIC_A, PUBLIC_B]);
    });

    it('gets its subscriptions after a request that timed out', async () => {
      await open();
      files.replyToSubscribe = () => 'waits';
      const outcome = outcomeOf(begin(A));
      await harness.pass(0);
      files.pendingSubscribe(A).fail(new GatewayError('timeout', 'late'));
      files.replyToSubscribe = () => 'takes';
      await harness.pass(0);
      expect(outcome.value!.honoured).toEqual([A]);
      expect(files.held).toEqual(new Set([A]));
    });

    it('is honoured by resource form while it was never connected', async () => {
      files.isReachable = false;
      await open();
      expect(await honoured([PUBLIC_A, A, 'resource://none/x', 'resource://files/file:///*'])).toEqual([
        PUBLIC_A,
        'resource://files/file:///*',
      ]);
      files.isReachable = true;
      await harness.pass(60_000);
      expect(files.held).toEqual(new Set([A, B]));
      files.update(A);
      expect(listen.uris.filter((uri) => uri === PUBLIC_A).length).toBeGreaterThan(0);
    });

    it('is not honoured out of scope while it was never connected', async () => {
      files.isReachable = false;
      await open();
      listen.setScope(only('db'));
      expect(await honoured([PUBLIC_A])).toEqual([]);
    });

    it('is waited for while it starts, so that URIs of every form are found', async () => {
      const listed: (() => void)[] = [];
      const connect = files.connect.bind(files);
      files.connect = () => new Promise((resolve) => listed.push(() => resolve(connect())));
      await open();
      const outcome = outcomeOf(begin(A, 'files_file___b', 'file:///none'));
      await harness.pass(100);
      expect(outcome.value).toBeUndefined();
      listed.forEach((resolve) => resolve());
      await harness.pass(100);
      expect(outcome.value!.honoured).toEqual([A, 'files_file___b']);
    });

    it('is not waited for without an unknown URI', async () => {
      const slow = new FakeServer();
      const connected = deferred<Link>();
      slow.connect = () => connected.promise;
      await open({}, { files, slow } as { files: FakeServer });
      expect(await honoured([A])).toEqual([A]);
      connected.resolve(await new FakeServer().connect());
    });

    it('keeps its subscription when it is disabled meanwhile', async () => {
      await open();
      files.replyToSubscribe = () => 'waits';
      const outcome = outcomeOf(begin(A));
      await harness.pass(0);
      await harness.enable('files', false);
      await harness.pass(1000);
      expect(outcome.value!.honoured).toEqual([A]);
      outcome.value!.acknowledged();
      expect(listen.updates).toEqual([{ uri: PUBLIC_A, _meta: { 'io.gatehouse/state': 'deleted' } }]);
      files.replyToSubscribe = () => 'takes';
      await harness.enable('files', true);
      await harness.pass(1000);
      expect(listen.updates.slice(1)).toEqual([{ uri: PUBLIC_A }]);
    });
  });

  describe('at a server with isolation: session', () => {
    const isolated = { entries: { files: { isolation: 'session' } } };

    it('subscribes over the link of its owner', async () => {
      await open(isolated);
      listen = FakeSubscriber.listen('a', undefined, new FakeClient('owner'));
      expect(await honoured([B, PUBLIC_A])).toEqual([B, PUBLIC_A]);
      expect(files.links.map((link) => link.count('resources/subscribe'))).toEqual([0, 2]);
    });

    it('honours what its link cannot subscribe yet, and sends one update when it can', async () => {
      await open(isolated);
      listen = FakeSubscriber.listen('a', undefined, new FakeClient('owner'));
      files.isReachable = false;
      expect(await honoured([A])).toEqual([A]);
      files.isReachable = true;
      await harness.pass(60_000);
      expect(listen.uris).toEqual([PUBLIC_A]);
    });

    it('leaves out its resources if the client can have no link of its own', async () => {
      await open(isolated);
      expect(await honoured([A, PUBLIC_A])).toEqual([]);
      expect(harness.rows).toEqual([]);
    });

    it('leaves nothing when the client can have no further link', async () => {
      await open(isolated);
      listen = FakeSubscriber.listen('a', undefined, new FakeClient('owner'));
      files.connect = () => Promise.reject(limitExceeded('2 processes run', 2));
      await expect(begin(A, B)).rejects.toMatchObject({ kind: 'limit-exceeded' });
      expect([harness.rows, listen.hasNoListeners]).toEqual([[], true]);
      await harness.pass(60_000);
      expect(files.links).toHaveLength(1);
    });
  });

  describe('limits', () => {
    it.each([
      ['one stream', { subscriptionsPerClient: 3 }],
      ['all streams of a principal', { subscriptionsPerPrincipal: 3 }],
      ['a server', { subscriptionsPerServer: 3 }],
      ['all clients', { subscriptions: 3 }],
    ])('leave nothing when the limit of %s is exceeded', async (_whose, limits) => {
      files.resources = manyUris(4);
      await open({ limits });
      const [first, ...others] = manyUris(4) as [string, ...string[]];
      await expect(begin(first, ...others)).rejects.toMatchObject({
        kind: 'limit-exceeded',
        data: { code: 'LimitExceeded', limit: 3 },
      });
      await harness.pass(LINGER_MS);
      expect([harness.rows, files.subscriptionRequests]).toEqual([[], []]);
      expect(await rejections('limit')).toBe(1);
      expect(listen.hasNoListeners).toBe(true);
      expect(await honoured([...others, others[0]!, 'x://none'])).toEqual(others);
    });

    it('count the streams and sessions of a principal together', async () => {
      files.resources = manyUris(3);
      await open({ limits: { subscriptionsPerPrincipal: 2 } });
      const [x, y, z] = manyUris(3) as [string, string, string];
      const principal = { id: 'key', grants: '*' } as const;
      await harness.subscribe(new FakeSubscriber('s', principal), x);
      listen = FakeSubscriber.listen('one', principal);
      expect(await honoured([y])).toEqual([y]);
      listen = FakeSubscriber.listen('two', principal);
      await expect(begin(z)).rejects.toMatchObject({ kind: 'limit-exceeded' });
      listen = FakeSubscriber.listen('other', { id: 'other', grants: '*' });
      expect(await honoured([z])).toEqual([z]);
    });
  });
});
