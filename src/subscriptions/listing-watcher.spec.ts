import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeSubscriber } from '../../test/kit/fake-client.js';
import { outcomeOf, flushPromises } from '../../test/kit/promises.js';
import { FakeServer } from '../../test/kit/fake-server.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { LINGER_MS, SubscriptionHarness, type HarnessOptions } from '../../test/kit/subscription-harness.js';

const A = 'file:///a';
const PUBLIC_A = 'resource://files/file:///a';
const uriOf = (n: number): string => `file:///${String(n).padStart(5, '0')}`;
const thousandUrisFrom = (first: number): string[] =>
  Array.from({ length: 1000 }, (_, n) => uriOf(first + n));
const DELETED = { 'io.gatehouse/state': 'deleted' };

describe('ListingWatcher', () => {
  let files: FakeServer;
  let harness: SubscriptionHarness;
  let client: FakeSubscriber;

  async function open(supportsSubscriptions = true, options: HarnessOptions = {}): Promise<void> {
    files = new FakeServer([A, 'file:///b'], supportsSubscriptions);
    harness = await SubscriptionHarness.open({ files }, options);
    client = new FakeSubscriber('a');
  }
  beforeEach(async () => {
    recordLog();
    await open();
  });

  it('reports a removed resource once to each of its subscribers', async () => {
    const [other, all] = [new FakeSubscriber('b'), new FakeSubscriber('c')];
    await harness.subscribe(client, PUBLIC_A);
    await harness.subscribe(client, 'resource://files/file:///*');
    await harness.subscribe(other, 'file:///b');
    await harness.subscribe(all, 'resource://files/*');
    await harness.list(files, 'file:///b');
    for (const one of [client, all]) expect(one.updates).toEqual([{ uri: PUBLIC_A, _meta: DELETED }]);
    expect(other.delivered).toEqual([]);
  });

  it.each([
    ['underscore', 'files_file___a'],
    ['original', A],
  ] as const)(
    'reports a removed resource under its last public URI, in style %s',
    async (resources, name) => {
      await open(true, { naming: { resources } });
      await harness.subscribe(client, name);
      await harness.list(files, 'file:///b');
      expect(client.updates).toEqual([{ uri: name, _meta: DELETED }]);
    },
  );

  it('keeps the row of a removed resource and subscribes again when the resource is listed again', async () => {
    await harness.subscribe(client, PUBLIC_A);
    await harness.list(files);
    await harness.pass(60_000);
    expect(files.subscriptionRequests).toEqual([`+${A}`]);
    expect(harness.subscribers.table.size).toBe(1);
    await harness.list(files, A);
    expect(files.subscriptionRequests).toEqual([`+${A}`, `+${A}`]);
    expect(client.updates).toEqual([{ uri: PUBLIC_A, _meta: DELETED }, { uri: PUBLIC_A }]);
    files.update(A, { version: 2 });
    expect(client.updates.at(-1)).toEqual({ uri: PUBLIC_A, version: 2 });
  });

  /** Removes the resource during the subscribe request; the server drops its subscriptions. */
  const removeResource = async (): Promise<void> => {
    await harness.list(files, 'file:///b');
    files.accept(A);
    await harness.pass(0);
    files.held.clear();
    files.replyToSubscribe = () => 'takes';
  };

  describe('when a resource is removed during the subscribe request', () => {
    beforeEach(async () => {
      await open(true, { entries: { files: { timeoutMs: 60_000 } } });
      files.replyToSubscribe = () => 'waits';
    });

    it('subscribes again for a new subscriber when the resource is listed again', async () => {
      const outcome = outcomeOf(harness.subscribe(client, PUBLIC_A));
      await flushPromises();
      await removeResource();
      expect(outcome).toHaveProperty('value');
      await harness.list(files, A, 'file:///b');
      expect([...files.held]).toEqual([A]);
      expect(client.updates).toEqual([{ uri: PUBLIC_A, _meta: DELETED }, { uri: PUBLIC_A }]);
    });

    it('subscribes again on a new link when the resource is listed again', async () => {
      files.replyToSubscribe = () => 'takes';
      await harness.subscribe(client, PUBLIC_A);
      files.replyToSubscribe = () => 'waits';
      await harness.reconnect(files);
      await removeResource();
      await harness.list(files, A, 'file:///b');
      expect([...files.held]).toEqual([A]);
      expect(client.updates).toEqual([{ uri: PUBLIC_A, _meta: DELETED }, { uri: PUBLIC_A }]);
    });

    it('subscribes once more when the resource is listed again before the response', async () => {
      outcomeOf(harness.subscribe(client, PUBLIC_A));
      await flushPromises();
      await harness.list(files, 'file:///b');
      await harness.list(files, A, 'file:///b');
      files.accept(A);
      files.replyToSubscribe = () => 'takes';
      await harness.pass(0);
      expect(files.subscriptionRequests).toEqual([`+${A}`, `+${A}`]);
      expect(client.updates.at(-1)).toEqual({ uri: PUBLIC_A });
    });
  });

  it('reports the return of a resource to earlier subscribers, even if another client subscribed while it was removed', async () => {
    files.templates = ['note://{id}'];
    await harness.list(files, 'note://1');
    const other = new FakeSubscriber('b');
    await harness.subscribe(client, 'note://1');
    await harness.list(files);
    await harness.subscribe(other, 'note://1');
    await harness.list(files, 'note://1');
    expect(client.updates[0]).toMatchObject({ _meta: DELETED });
    expect(client.updates.at(-1)).toEqual({ uri: 'resource://files/note://1' });
  });

  it('unsubscribes from a removed resource when its last subscriber leaves', async () => {
    await harness.subscribe(client, PUBLIC_A);
    await harness.list(files);
    client.close();
    await harness.pass(LINGER_MS);
    expect(files.subscriptionRequests).toEqual([`+${A}`, `-${A}`]);
    await harness.list(files, A);
    expect(files.subscriptionRequests).toHaveLength(2);
  });

  it('reports nothing for instances of a template and for resources that stay listed', async () => {
    files.templates = ['note://{id}'];
    await harness.list(files, A, 'file:///b');
    await harness.subscribe(client, 'resource://files/note://1');
    await harness.subscribe(client, PUBLIC_A);
    await harness.list(files, A, 'file:///c');
    await harness.list(files, A);
    expect(client.delivered).toEqual([]);
  });

  it('reports removal and return of a resource of a server that does not support subscriptions', async () => {
    await open(false);
    await harness.subscribe(client, PUBLIC_A);
    await harness.list(files);
    await harness.list(files, A);
    expect(client.updates).toEqual([{ uri: PUBLIC_A, _meta: DELETED }, { uri: PUBLIC_A }]);
    expect(files.subscriptionRequests).toEqual([]);
  });

  it.each(['has lost its link', 'is replaced after a configuration change'])(
    'does not report a resource as deleted while its server %s',
    async (state) => {
      files.templates = ['note://{id}'];
      await harness.list(files, A, 'file:///b');
      await harness.subscribe(client, PUBLIC_A);
      await harness.subscribe(client, 'resource://files/file:///*');
      if (state === 'has lost its link') await harness.reconnect(files);
      else await harness.reload({ files: { args: ['other'] } });
      await harness.pass(1000);
      expect(files.links).toHaveLength(2);
      expect(client.updates.filter(({ _meta }) => _meta !== undefined)).toEqual([]);
      expect([...files.held].toSorted()).toEqual([A, 'file:///b']);
      expect(client.uris.toSorted()).toEqual([PUBLIC_A, 'resource://files/file:///b']);
    },
  );

  it('reports a resource as deleted that a replaced server does not list any more', async () => {
    await harness.subscribe(client, PUBLIC_A);
    files.resources = ['file:///b'];
    await harness.reload({ files: { args: ['other'] } });
    await harness.pass(1000);
    expect(client.updates.at(-1)).toEqual({ uri: PUBLIC_A, _meta: DELETED });
  });

  it.each(['resource', 'original'] as const)(
    'reports a resource as deleted when a replaced server lists no resources, in style %s',
    async (resources) => {
      await open(true, { naming: { resources } });
      await harness.subscribe(client, PUBLIC_A);
      files.resources = [];
      files.replyToSubscribe = () => 'refuses';
      await harness.reload({ files: { args: ['other'] } });
      await harness.pass(1000);
      expect(client.updates).toEqual([{ uri: resources === 'resource' ? PUBLIC_A : A, _meta: DELETED }]);
    },
  );

  it('does not compare with the listing from before a server was disabled', async () => {
    await harness.subscribe(client, PUBLIC_A);
    files.isReachable = false;
    await harness.reload({ files: { args: ['other'] } });
    await harness.enable('files', false);
    await harness.enable('files', true);
    const later = new FakeSubscriber('b');
    harness.restore(later, 'files', A);
    Object.assign(files, { isReachable: true, resources: ['file:///b'], replyToSubscribe: () => 'refuses' });
    await harness.pass(5000);
    expect(harness.registry.catalog.servers).toHaveLength(1);
    expect(later.updates).toEqual([]);
  });

  describe('with a pattern', () => {
    beforeEach(() => harness.subscribe(client, 'resource://files/file:///*'));

    it('subscribes to a resource that is listed later, and reports it', async () => {
      expect([...files.held]).toEqual([A, 'file:///b']);
      await harness.list(files, A, 'file:///b', 'file:///c', 'other://d');
      expect([...files.held]).toEqual([A, 'file:///b', 'file:///c']);
      expect(client.updates).toEqual([{ uri: 'resource://files/file:///c' }]);
      expect(await harness.upstream()).toBe(3);
    });

    it('unsubscribes from a removed resource, and subscribes when it is listed again', async () => {
      await harness.list(files, A);
      expect(client.updates).toEqual([{ uri: 'resource://files/file:///b', _meta: DELETED }]);
      await harness.pass(LINGER_MS);
      expect(files.subscriptionRequests.slice(2)).toEqual(['-file:///b']);
      expect(await harness.upstream()).toBe(1);
      await harness.list(files, A, 'file:///b');
      expect(files.subscriptionRequests.slice(3)).toEqual(['+file:///b']);
      expect(client.updates.slice(1)).toEqual([{ uri: 'resource://files/file:///b' }]);
    });

    it('stays subscribed to a resource that was removed for a moment', async () => {
      files.resources = [A];
      files.listChanged();
      await harness.pass(100);
      await harness.list(files, A, 'file:///b');
      expect([...files.held].toSorted()).toEqual([A, 'file:///b']);
    });

    it('stays subscribed to a removed resource that is subscribed to by URI', async () => {
      await harness.subscribe(new FakeSubscriber('b'), 'file:///b');
      await harness.list(files, A);
      await harness.pass(LINGER_MS);
      expect(files.subscriptionRequests.slice(2)).toEqual([]);
      client.close();
      await harness.pass(LINGER_MS);
      expect(files.subscriptionRequests.slice(2)).toEqual([`-${A}`]);
    });

    it('subscribes to at most 1000 resources, however the listing changes', async () => {
      await harness.list(files, ...thousandUrisFrom(500));
      for (let turn = 0; turn < 200; turn++) await harness.pass(0);
      expect(files.held.size).toBe(1000);
      await harness.list(files, ...thousandUrisFrom(0), ...thousandUrisFrom(1000));
      for (let turn = 0; turn < 200; turn++) await harness.pass(0);
      expect(files.held.size).toBe(1000);
    });

    it('reports a removed resource that is beyond the first 1000 matches by now', async () => {
      await harness.list(files, ...thousandUrisFrom(0), A, 'file:///b');
      for (let turn = 0; turn < 200; turn++) await harness.pass(0);
      await harness.list(files, ...thousandUrisFrom(0), A);
      expect(client.updates.at(-1)).toEqual({ uri: 'resource://files/file:///b', _meta: DELETED });
      await harness.pass(LINGER_MS);
      expect(files.held.has(A)).toBe(true);
      expect(files.held.has('file:///b')).toBe(false);
    });

    it('unsubscribes from everything when the pattern ends, however the listing changed', async () => {
      await harness.list(files, 'file:///b', 'file:///c');
      await harness.list(files, 'file:///d');
      client.close();
      await harness.pass(LINGER_MS);
      await harness.pass(LINGER_MS);
      expect([...files.held]).toEqual([]);
      expect(await harness.upstream()).toBe(0);
    });
  });
});
