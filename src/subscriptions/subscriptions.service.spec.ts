import { beforeEach, describe, expect, it } from '@jest/globals';
import { outcomeOf, refusalOf, settled } from '../../test/kit/fake-link.js';
import { FakeServer } from '../../test/kit/fake-server.js';
import { FakeSubscriber } from '../../test/kit/fake-subscriber.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { only } from '../../test/kit/offers.js';
import { LINGER_MS, SubscriptionRoom } from '../../test/kit/subscription-harness.js';
import { GatewayError } from '../core/errors.js';

const A = 'file:///a';
const PUBLIC_A = 'resource://files/file:///a';

const errorOf = async (subscribed: Promise<unknown>): Promise<object> => {
  const { kind, message, data } = (await refusalOf(subscribed)) as GatewayError;
  return { kind, message, data };
};

describe('Subscriptions', () => {
  let files: FakeServer;
  let room: SubscriptionRoom;
  let client: FakeSubscriber;
  let lines: string[];

  beforeEach(async () => {
    lines = recordLog();
    files = new FakeServer([A, 'file:///b', 'file:///dir/c']);
    files.templates = ['note://{id}'];
    room = await SubscriptionRoom.open({ files });
    client = new FakeSubscriber('a');
  });

  const rejections = async (reason: string): Promise<number | undefined> =>
    (await room.scrape()).value('gatehouse_subscription_rejections_total', { reason });

  describe('to subscribe', () => {
    it('has the server told once, however many subscribe and however often', async () => {
      const others = Array.from({ length: 20 }, (_, i) => new FakeSubscriber(`${i}`));
      await Promise.all(others.map((other) => room.subscribe(other, PUBLIC_A)));
      for (const other of others) await room.subscribe(other, A);
      expect(files.told).toEqual([`+${A}`]);
      expect(room.subscribers.table.size).toBe(20);
    });

    it('again is success, by the same id', async () => {
      const first = await room.subscribe(client, PUBLIC_A);
      for (const form of [A, PUBLIC_A, 'files_file___a'])
        expect((await room.subscribe(client, form)).id).toBe(first.id);
      expect(room.subscribers.table.size).toBe(1);
    });

    it('again while the server is being asked waits for the same answer', async () => {
      files.willingness = () => 'waits';
      const both = [A, PUBLIC_A].map((form) => outcomeOf(room.subscribe(client, form)));
      await settled();
      expect(both).toEqual([{}, {}]);
      files.accept(A);
      await room.pass(0);
      expect(both[0]!.value!.id).toBe(both[1]!.value!.id);
      expect(files.told).toEqual([`+${A}`]);
    });

    it.each<[string, string]>([
      ['nobody has', 'file:///nope'],
      ['nobody has, in the form of the lists', 'resource://files/file:///nope'],
      ['would be of a server that there is not', 'resource://nope/file:///a'],
      ['is empty', ''],
    ])('to what %s is refused by its name, and nothing else happens', async (_what, uri) => {
      expect(await errorOf(room.subscribe(client, uri))).toEqual({
        kind: 'nothing-to-subscribe',
        message: `RESOURCE_NOT_FOUND: resource ${uri} is not available`,
        data: { uri },
      });
      expect([room.rows, files.told]).toEqual([[], []]);
      expect(await rejections('unknown')).toBe(1);
    });

    it('to what is out of scope, or disabled, is refused as what nobody has', async () => {
      const unknown = await errorOf(room.subscribe(client, 'resource://nope/file:///a'));
      client.see(only('other'));
      const outOfScope = await errorOf(room.subscribe(client, PUBLIC_A));
      await room.enable('files', false);
      const disabled = await errorOf(room.subscribe(new FakeSubscriber('b'), PUBLIC_A));
      for (const refused of [outOfScope, disabled])
        expect(JSON.stringify(refused)).toBe(JSON.stringify(unknown).replaceAll('nope', 'files'));
    });

    it('that the server refuses fails in its words, and leaves nothing', async () => {
      files.willingness = () => 'refuses';
      expect(await errorOf(room.subscribe(client, PUBLIC_A))).toEqual({
        kind: 'subscription-failed',
        message: 'SUBSCRIPTION_FAILED: server files refused the subscription: not this one',
        data: { code: 'SUBSCRIPTION_FAILED', server: 'files' },
      });
      await room.pass(LINGER_MS);
      expect([room.rows, files.told, client.isForgotten]).toEqual([[], [`+${A}`], true]);
      expect(await rejections('failed')).toBe(1);
      expect(lines.join()).toContain('"message":"subscription failed"');
      files.willingness = () => 'takes';
      await room.subscribe(client, PUBLIC_A);
      expect(room.rows).toEqual([`a ${A}`]);
    });

    it('that the server refuses fails for all who asked at once', async () => {
      files.willingness = () => 'waits';
      const outcomes = ['a', 'b', 'c'].map((id) => outcomeOf(room.subscribe(new FakeSubscriber(id), A)));
      await settled();
      files.refuse(A);
      await room.pass(LINGER_MS);
      expect(outcomes.map(({ error }) => (error as GatewayError).kind)).toEqual(
        Array(3).fill('subscription-failed'),
      );
      expect([room.rows, files.told]).toEqual([[], [`+${A}`]]);
    });

    it('that the server does not answer fails as late, and is taken back should it have been heard', async () => {
      files.willingness = () => 'waits';
      const outcome = outcomeOf(room.subscribe(client, A));
      await settled();
      files.asked(A).fail(new GatewayError('timeout', 'TIMEOUT: late'));
      await room.pass(0);
      expect(outcome.error).toMatchObject({ kind: 'timeout', message: 'TIMEOUT: late' });
      expect(room.rows).toEqual([]);
      await room.pass(LINGER_MS);
      expect(files.told).toEqual([`+${A}`, `-${A}`]);
    });

    it('fails at once while the server is not there, and leaves nothing', async () => {
      files.isReachable = false;
      files.link.lose();
      await room.pass(0);
      expect(await errorOf(room.subscribe(client, A))).toMatchObject({
        kind: 'server-unavailable',
        data: { code: 'SERVER_UNAVAILABLE', server: 'files' },
      });
      expect([room.rows, client.isForgotten]).toEqual([[], true]);
      expect(await rejections('unavailable')).toBe(1);
    });

    it('fails when the link breaks before the answer, and leaves nothing', async () => {
      files.willingness = () => 'waits';
      const outcome = outcomeOf(room.subscribe(client, A));
      await settled();
      await room.reconnect(files);
      expect(outcome.error).toMatchObject({ kind: 'server-unavailable' });
      expect([room.rows, files.told]).toEqual([[], [`+${A}`]]);
    });

    it('of a client that has left by then leaves nothing', async () => {
      client.close();
      expect(await errorOf(room.subscribe(client, A))).toMatchObject({ kind: 'cancelled' });
      await room.pass(LINGER_MS);
      expect([room.rows, files.told]).toEqual([[], []]);
      files.link.lose();
      files.isReachable = false;
      await room.pass(0);
      expect(await errorOf(room.subscribe(client, A))).toMatchObject({ kind: 'cancelled' });
      expect(room.rows).toEqual([]);
    });

    it('of a client that leaves before the answer is taken back', async () => {
      files.willingness = () => 'waits';
      const outcome = outcomeOf(room.subscribe(client, A));
      await settled();
      client.close();
      files.accept(A);
      await room.pass(LINGER_MS);
      expect(outcome.error).toMatchObject({ kind: 'cancelled' });
      expect([room.rows, files.told, [...files.holds]]).toEqual([[], [`+${A}`, `-${A}`], []]);
    });
  });

  describe('an update that comes before the acknowledgement', () => {
    it('is delivered after it', async () => {
      files.willingness = () => 'waits';
      let acknowledged = false;
      const subscribed = room.subscriptions.subscribe(client.context, A).then(() => {
        acknowledged = true;
        expect(client.delivered).toEqual([]);
      });
      await settled();
      files.update(A, { version: 1 });
      files.update(A, { version: 2 });
      files.accept(A);
      await subscribed;
      await room.acknowledged();
      expect(acknowledged).toBe(true);
      expect(client.updates).toEqual([{ uri: PUBLIC_A, version: 2 }]);
    });

    it('has a number above those of what the client was sent before it, or it could not resume there', async () => {
      const early = new FakeSubscriber('b');
      await room.subscribe(early, A);
      const other = room.subscriptions.subscribe(client.context, 'file:///b');
      await other;
      files.willingness = () => 'waits';
      files.resources.push('file:///dir');
      await room.list(files, ...files.resources);
      const pending = room.subscriptions.subscribe(client.context, 'file:///dir');
      await settled();
      // One who has it already takes its number first.
      const eager = new FakeSubscriber('c');
      files.willingness = () => 'takes';
      await room.subscribe(eager, 'resource://files/file:///dir/*');
      files.update('file:///dir/c');
      files.update('file:///b');
      files.accept('file:///dir');
      await pending;
      await room.acknowledged();
      expect(client.uris).toEqual(['resource://files/file:///b', 'resource://files/file:///dir/c']);
      const numbers = client.delivered.map(({ frame }) => frame.sequence);
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    });

    it('is not delivered when there is none', async () => {
      files.willingness = () => 'waits';
      const outcome = outcomeOf(room.subscribe(client, A));
      await settled();
      files.update(A);
      files.refuse(A);
      await room.pass(0);
      expect(outcome.error).toMatchObject({ kind: 'subscription-failed' });
      expect(client.delivered).toEqual([]);
    });

    it('holds up nobody who has theirs', async () => {
      const early = new FakeSubscriber('b');
      await room.subscribe(early, A);
      files.update(A);
      await room.subscriptions.subscribe(client.context, A);
      files.update(A);
      expect([early.delivered.length, client.delivered.length]).toEqual([2, 0]);
      await room.acknowledged();
      expect(client.delivered).toHaveLength(1);
    });
  });

  describe('to unsubscribe', () => {
    it.each([
      ['the form of the lists', PUBLIC_A],
      ["the server's own URI", A],
      ['the identifier', 'files_file___a'],
    ])('takes %s', async (_form, text) => {
      await room.subscribe(client, PUBLIC_A);
      room.unsubscribe(client, text);
      expect([room.rows, client.isForgotten]).toEqual([[], true]);
      await room.pass(LINGER_MS);
      expect(files.told).toEqual([`+${A}`, `-${A}`]);
    });

    it('takes the id, and no id of somebody else', async () => {
      const { id } = await room.subscribe(client, A);
      room.unsubscribe(new FakeSubscriber('b'), id);
      expect(room.rows).toEqual([`a ${A}`]);
      room.unsubscribe(client, id);
      expect(room.rows).toEqual([]);
    });

    it.each(['note://{id}', 'resource://files/note://{id}', 'files_note___{id}'])(
      'takes a template in the form %s',
      async (form) => {
        await room.subscribe(client, 'note://{id}');
        room.unsubscribe(client, form);
        expect(room.rows).toEqual([]);
      },
    );

    it('takes what is not listed any more, in every form', async () => {
      for (const form of [A, PUBLIC_A, 'files_file___a']) {
        await room.list(files, A);
        await room.subscribe(client, A);
        await room.list(files);
        expect(room.rows).toEqual([`a ${A}`]);
        room.unsubscribe(client, form);
        expect(room.rows).toEqual([]);
      }
    });

    it('takes an identifier that two resources would share', async () => {
      await room.list(files, 'x://a/b', 'x://a?b');
      const [first, second] = await Promise.all(
        ['x://a/b', 'x://a?b'].map((uri) => room.subscribe(client, uri)),
      );
      const shared = room.registry.catalog.servers[0]!.listing.resources.byUri.map(({ id }) => id);
      for (const id of shared) expect(id).toMatch(/^files_x___a_b~[0-9a-f]{8}$/);
      room.unsubscribe(client, shared[1]!);
      expect([...room.subscribers.table]).toEqual([first]);
      expect(second!.uri).toBe('x://a?b');
    });

    it('from one does not end another that is called so by its own server', async () => {
      const chained = new FakeServer([A]);
      room = await SubscriptionRoom.open({ files, chained });
      await room.list(chained, PUBLIC_A);
      const row = await room.subscribe(client, `resource://chained/${PUBLIC_A}`);
      room.unsubscribe(client, PUBLIC_A);
      expect([...room.subscribers.table]).toEqual([row]);
      await room.list(files);
      room.unsubscribe(client, PUBLIC_A);
      expect(room.rows).toEqual([]);
    });

    it('from what is not subscribed to is success', async () => {
      for (const text of [A, 'file:///nope', 'resource://nope/x', 'no-such-id', ''])
        room.unsubscribe(client, text);
      expect(files.told).toEqual([]);
    });

    it('is told to the server when the last has left, and after a while only', async () => {
      const [first, second] = [new FakeSubscriber('b'), new FakeSubscriber('c')];
      for (const one of [first, second]) await room.subscribe(one, A);
      room.unsubscribe(first, A);
      await room.pass(LINGER_MS * 2);
      expect(files.told).toEqual([`+${A}`]);
      room.unsubscribe(second, A);
      await room.pass(LINGER_MS - 1);
      await room.subscribe(first, A);
      await room.pass(LINGER_MS * 2);
      expect(files.told).toEqual([`+${A}`]);
      room.unsubscribe(first, A);
      await room.pass(LINGER_MS);
      expect(files.told).toEqual([`+${A}`, `-${A}`]);
    });
  });

  it('end with the id, once', async () => {
    const { id } = await room.subscribe(client, A);
    expect([room.subscriptions.end(id), room.subscriptions.end(id)]).toEqual([true, false]);
    expect(room.rows).toEqual([]);
  });

  it('end with the client, and the server is told of what nobody else wants', async () => {
    const other = new FakeSubscriber('b');
    for (const uri of [A, 'file:///b']) await room.subscribe(client, uri);
    await room.subscribe(other, A);
    client.close();
    await room.pass(LINGER_MS);
    expect(room.rows).toEqual([`b ${A}`]);
    expect(files.told).toEqual([`+${A}`, '+file:///b', '-file:///b']);
  });

  it('end with what the client may see', async () => {
    await room.subscribe(client, A);
    client.see(only('other'));
    files.update(A);
    await room.pass(LINGER_MS);
    expect([room.rows, client.delivered, files.told]).toEqual([[], [], [`+${A}`, `-${A}`]]);
  });

  it.each<[string, () => Promise<void>]>([
    ['an administrator disables', () => room.enable('files', false)],
    ['is disabled in the file', () => room.reload({ files: { enabled: false } })],
  ])('end with a server that %s, and do not come back with it', async (_how, end) => {
    await room.subscribe(client, A);
    await room.subscribe(client, 'file:///*');
    await end();
    expect([room.rows, client.isForgotten]).toEqual([[], true]);
    await room.enable('files', true);
    await room.pass(1000);
    files.update(A);
    expect(client.delivered).toEqual([]);
    expect([...files.holds]).toEqual([]);
    await room.subscribe(client, A);
    files.update(A);
    expect(client.uris).toEqual([PUBLIC_A]);
  });

  it('are counted', async () => {
    await room.subscribe(client, A);
    await room.subscribe(new FakeSubscriber('b'), A);
    await room.subscribe(client, 'file:///b');
    const scrape = await room.scrape();
    expect(scrape.value('mcp_active_subscriptions')).toBe(3);
    expect(scrape.value('gatehouse_upstream_subscriptions')).toBe(2);
    client.close();
    room.unsubscribe(client, A);
    expect((await room.scrape()).value('mcp_active_subscriptions')).toBe(1);
  });

  it('leave a line each in a log that is detailed', async () => {
    const { id } = await room.subscribe(client, A);
    room.unsubscribe(client, A);
    const said = lines.map((line) => JSON.parse(line) as object);
    for (const message of ['subscribed', 'subscription ended'])
      expect(said).toContainEqual(
        expect.objectContaining({ level: 'debug', message, subscription: id, server: 'files', uri: A }),
      );
  });
});
