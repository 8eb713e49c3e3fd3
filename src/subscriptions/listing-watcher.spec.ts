import { beforeEach, describe, expect, it } from '@jest/globals';
import { outcomeOf, settled } from '../../test/kit/fake-link.js';
import { FakeServer } from '../../test/kit/fake-server.js';
import { FakeSubscriber } from '../../test/kit/fake-subscriber.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { LINGER_MS, SubscriptionHarness, type HarnessOptions } from '../../test/kit/subscription-harness.js';

const A = 'file:///a';
const PUBLIC_A = 'resource://files/file:///a';
const uriOf = (n: number): string => `file:///${String(n).padStart(5, '0')}`;
/** A thousand. */
const from = (first: number): string[] => Array.from({ length: 1000 }, (_, n) => uriOf(first + n));
const DELETED = { 'io.gatehouse/state': 'deleted' };

describe('a resource that is subscribed to', () => {
  let files: FakeServer;
  let harness: SubscriptionHarness;
  let client: FakeSubscriber;

  async function open(takesSubscriptions = true, options: HarnessOptions = {}): Promise<void> {
    files = new FakeServer([A, 'file:///b'], takesSubscriptions);
    harness = await SubscriptionHarness.open({ files }, options);
    client = new FakeSubscriber('a');
  }
  beforeEach(async () => {
    recordLog();
    await open();
  });

  it('is reported when it vanishes from the list, to those who want it, once', async () => {
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
  ] as const)('is reported by the name that it had under the style %s', async (resources, name) => {
    await open(true, { naming: { resources } });
    await harness.subscribe(client, name);
    await harness.list(files, 'file:///b');
    expect(client.updates).toEqual([{ uri: name, _meta: DELETED }]);
  });

  it('stays subscribed to while it is gone, and is watched again when it comes back', async () => {
    await harness.subscribe(client, PUBLIC_A);
    await harness.list(files);
    await harness.pass(60_000);
    expect(files.told).toEqual([`+${A}`]);
    expect(harness.subscribers.table.size).toBe(1);
    await harness.list(files, A);
    expect(files.told).toEqual([`+${A}`, `+${A}`]);
    expect(client.updates).toEqual([{ uri: PUBLIC_A, _meta: DELETED }, { uri: PUBLIC_A }]);
    files.update(A, { version: 2 });
    expect(client.updates.at(-1)).toEqual({ uri: PUBLIC_A, version: 2 });
  });

  /** It vanishes while its server is being asked for it, and what was subscribed to it as well. */
  const vanish = async (): Promise<void> => {
    await harness.list(files, 'file:///b');
    files.accept(A);
    await harness.pass(0);
    files.holds.clear();
    files.willingness = () => 'takes';
  };

  describe('and that vanishes while its server is being asked for it', () => {
    beforeEach(async () => {
      await open(true, { entries: { files: { timeoutMs: 60_000 } } });
      files.willingness = () => 'waits';
    });

    it('is asked for again when it comes back, by a client that has just subscribed', async () => {
      const outcome = outcomeOf(harness.subscribe(client, PUBLIC_A));
      await settled();
      await vanish();
      expect(outcome).toHaveProperty('value');
      await harness.list(files, A, 'file:///b');
      expect([...files.holds]).toEqual([A]);
      expect(client.updates).toEqual([{ uri: PUBLIC_A, _meta: DELETED }, { uri: PUBLIC_A }]);
    });

    it('is asked for again when it comes back, on a new link', async () => {
      files.willingness = () => 'takes';
      await harness.subscribe(client, PUBLIC_A);
      files.willingness = () => 'waits';
      await harness.reconnect(files);
      await vanish();
      await harness.list(files, A, 'file:///b');
      expect([...files.holds]).toEqual([A]);
      expect(client.updates).toEqual([{ uri: PUBLIC_A, _meta: DELETED }, { uri: PUBLIC_A }]);
    });

    it('is asked for once more when it comes back before the answer', async () => {
      outcomeOf(harness.subscribe(client, PUBLIC_A));
      await settled();
      await harness.list(files, 'file:///b');
      await harness.list(files, A, 'file:///b');
      files.accept(A);
      files.willingness = () => 'takes';
      await harness.pass(0);
      expect(files.told).toEqual([`+${A}`, `+${A}`]);
      expect(client.updates.at(-1)).toEqual({ uri: PUBLIC_A });
    });
  });

  it('is told to be there again to all, also when somebody else has asked for it while it was gone', async () => {
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

  it('is given up on when its last subscriber leaves while it is gone', async () => {
    await harness.subscribe(client, PUBLIC_A);
    await harness.list(files);
    client.close();
    await harness.pass(LINGER_MS);
    expect(files.told).toEqual([`+${A}`, `-${A}`]);
    await harness.list(files, A);
    expect(files.told).toHaveLength(2);
  });

  it('is not reported where nothing is known of it: it fits a template, or others came and went', async () => {
    files.templates = ['note://{id}'];
    await harness.list(files, A, 'file:///b');
    await harness.subscribe(client, 'resource://files/note://1');
    await harness.subscribe(client, PUBLIC_A);
    await harness.list(files, A, 'file:///c');
    await harness.list(files, A);
    expect(client.delivered).toEqual([]);
  });

  it('of a server that takes no subscriptions is reported and comes back all the same', async () => {
    await open(false);
    await harness.subscribe(client, PUBLIC_A);
    await harness.list(files);
    await harness.list(files, A);
    expect(client.updates).toEqual([{ uri: PUBLIC_A, _meta: DELETED }, { uri: PUBLIC_A }]);
    expect(files.told).toEqual([]);
  });

  it.each(['has lost its link', 'is replaced, because the file says something else of it'])(
    'is not reported as gone while its server %s',
    async (why) => {
      files.templates = ['note://{id}'];
      await harness.list(files, A, 'file:///b');
      await harness.subscribe(client, PUBLIC_A);
      await harness.subscribe(client, 'resource://files/file:///*');
      if (why === 'has lost its link') await harness.reconnect(files);
      else await harness.reload({ files: { args: ['other'] } });
      await harness.pass(1000);
      expect(files.links).toHaveLength(2);
      expect(client.updates.filter(({ _meta }) => _meta !== undefined)).toEqual([]);
      expect([...files.holds].toSorted()).toEqual([A, 'file:///b']);
      expect(client.uris.toSorted()).toEqual([PUBLIC_A, 'resource://files/file:///b']);
    },
  );

  it('is reported when the server that replaces its own does not have it', async () => {
    await harness.subscribe(client, PUBLIC_A);
    files.resources = ['file:///b'];
    await harness.reload({ files: { args: ['other'] } });
    await harness.pass(1000);
    expect(client.updates.at(-1)).toEqual({ uri: PUBLIC_A, _meta: DELETED });
  });

  it.each(['resource', 'original'] as const)(
    'is reported when the server that replaces its own has nothing at all, by its name under the style %s',
    async (resources) => {
      await open(true, { naming: { resources } });
      await harness.subscribe(client, PUBLIC_A);
      files.resources = [];
      files.willingness = () => 'refuses';
      await harness.reload({ files: { args: ['other'] } });
      await harness.pass(1000);
      expect(client.updates).toEqual([{ uri: resources === 'resource' ? PUBLIC_A : A, _meta: DELETED }]);
    },
  );

  it('is not looked for in what was listed before its server was replaced, and then disabled', async () => {
    await harness.subscribe(client, PUBLIC_A);
    files.isReachable = false;
    await harness.reload({ files: { args: ['other'] } });
    await harness.enable('files', false);
    await harness.enable('files', true);
    const later = new FakeSubscriber('b');
    harness.restore(later, 'files', A);
    Object.assign(files, { isReachable: true, resources: ['file:///b'], willingness: () => 'refuses' });
    await harness.pass(5000);
    expect(harness.registry.catalog.servers).toHaveLength(1);
    expect(later.updates).toEqual([]);
  });

  describe('as one of many that fit a pattern', () => {
    beforeEach(() => harness.subscribe(client, 'resource://files/file:///*'));

    it('is watched from when it is there, and its subscribers hear of it', async () => {
      expect([...files.holds]).toEqual([A, 'file:///b']);
      await harness.list(files, A, 'file:///b', 'file:///c', 'other://d');
      expect([...files.holds]).toEqual([A, 'file:///b', 'file:///c']);
      expect(client.updates).toEqual([{ uri: 'resource://files/file:///c' }]);
      expect(await harness.upstream()).toBe(3);
    });

    it('is not watched any more when it is gone, and again when it is back', async () => {
      await harness.list(files, A);
      expect(client.updates).toEqual([{ uri: 'resource://files/file:///b', _meta: DELETED }]);
      await harness.pass(LINGER_MS);
      expect(files.told.slice(2)).toEqual(['-file:///b']);
      expect(await harness.upstream()).toBe(1);
      await harness.list(files, A, 'file:///b');
      expect(files.told.slice(3)).toEqual(['+file:///b']);
      expect(client.updates.slice(1)).toEqual([{ uri: 'resource://files/file:///b' }]);
    });

    it('stays watched when it was away for a moment only', async () => {
      files.resources = [A];
      files.listChanged();
      await harness.pass(100);
      await harness.list(files, A, 'file:///b');
      expect([...files.holds].toSorted()).toEqual([A, 'file:///b']);
    });

    it('stays watched for those who want it by its name', async () => {
      await harness.subscribe(new FakeSubscriber('b'), 'file:///b');
      await harness.list(files, A);
      await harness.pass(LINGER_MS);
      expect(files.told.slice(2)).toEqual([]);
      client.close();
      await harness.pass(LINGER_MS);
      expect(files.told.slice(2)).toEqual([`-${A}`]);
    });

    it('is not watched beyond a thousand, however the list moves on', async () => {
      await harness.list(files, ...from(500));
      for (let turn = 0; turn < 200; turn++) await harness.pass(0);
      expect(files.holds.size).toBe(1000);
      await harness.list(files, ...from(0), ...from(1000));
      for (let turn = 0; turn < 200; turn++) await harness.pass(0);
      expect(files.holds.size).toBe(1000);
    });

    it('is reported when it vanishes, though by now a thousand are before it in the list', async () => {
      await harness.list(files, ...from(0), A, 'file:///b');
      for (let turn = 0; turn < 200; turn++) await harness.pass(0);
      await harness.list(files, ...from(0), A);
      expect(client.updates.at(-1)).toEqual({ uri: 'resource://files/file:///b', _meta: DELETED });
      await harness.pass(LINGER_MS);
      expect(files.holds.has(A)).toBe(true);
      expect(files.holds.has('file:///b')).toBe(false);
    });

    it('leaves nothing behind when the pattern goes, wherever the list has gone meanwhile', async () => {
      await harness.list(files, 'file:///b', 'file:///c');
      await harness.list(files, 'file:///d');
      client.close();
      await harness.pass(LINGER_MS);
      await harness.pass(LINGER_MS);
      expect([...files.holds]).toEqual([]);
      expect(await harness.upstream()).toBe(0);
    });
  });
});
