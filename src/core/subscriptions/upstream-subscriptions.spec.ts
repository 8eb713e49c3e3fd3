import { beforeEach, describe, expect, it } from '@jest/globals';
import { settled } from '../../../test/kit/fake-link.js';
import { ManualTimers, FakeUpstream } from '../../../test/kit/fake-upstream.js';
import { RemoteError } from '../errors.js';
import { UpstreamSubscriptions } from './upstream-subscriptions.js';

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'no error');

const REFUSAL = new RemoteError(-32602, 'no such resource', '{}');

describe('UpstreamSubscriptions', () => {
  let wanted: Set<string>;
  let wire: FakeUpstream;
  let timers: ManualTimers;
  let events: string[];
  let outcomes: string[];
  let upstream: UpstreamSubscriptions;

  beforeEach(() => {
    wanted = new Set();
    wire = new FakeUpstream();
    timers = new ManualTimers();
    events = [];
    outcomes = [];
    upstream = new UpstreamSubscriptions(
      { has: (_server, uri) => wanted.has(uri), of: () => wanted },
      {
        restored: (_server, uri) => events.push(`restored ${uri}`),
        failed: (_server, request, uri, error) => events.push(`${request} ${uri}: ${messageOf(error)}`),
      },
      { lingerMs: 100, schedule: timers.schedule, parallel: 2 },
    );
    upstream.connected('files', wire);
  });

  /** Somebody joins; what comes of it is in `outcomes`. */
  async function join(who: string, uri = 'a'): Promise<void> {
    wanted.add(uri);
    upstream.ensure('files', uri).then(
      () => outcomes.push(`${who} ok`),
      (error: unknown) => outcomes.push(`${who}: ${messageOf(error)}`),
    );
    await settled();
  }

  async function leave(uri = 'a'): Promise<void> {
    wanted.delete(uri);
    upstream.release('files', uri);
    await settled();
  }

  async function hold(...uris: string[]): Promise<void> {
    for (const uri of uris) {
      await join('first', uri);
      await wire.answer(`+${uri}`);
    }
    outcomes.splice(0);
    wire.sent.splice(0);
  }

  /** How much is remembered when all links are gone. */
  function leftovers(): number {
    upstream.close();
    const maps = Object.values(upstream).filter((field) => field instanceof Map);
    expect(maps).toHaveLength(1);
    return maps.reduce((sum, { size }) => sum + size, timers.size + upstream.size);
  }

  it('takes a request that throws for a refusal', async () => {
    upstream.connected('files', {
      subscribe: () => {
        throw REFUSAL;
      },
      unsubscribe: () => Promise.resolve(),
    });
    await join('anna');
    expect(outcomes).toEqual(['anna: no such resource']);
  });

  it('forgets what the server held when the link is lost, and fails who waits', async () => {
    await hold('a');
    await join('anna', 'b');
    upstream.disconnected('files');
    await settled();
    expect(outcomes).toEqual([
      'anna: SERVER_UNAVAILABLE: server files is not available: the connection was lost',
    ]);
    expect(upstream.size).toBe(0);
    await wire.answer('+b');
    expect(upstream.size).toBe(0);
    expect(wire.sent).toEqual(['+b']);
    expect(leftovers()).toBe(0);
  });

  it('takes no notice of what a lost link still answers', async () => {
    for (const uri of ['a', 'b', 'c']) wanted.add(uri);
    upstream.connected('files', wire);
    upstream.disconnected('files');
    wanted.delete('a');
    await wire.answer('+a');
    await wire.answer('+b');
    expect(events).toEqual([]);
    expect(timers.size).toBe(0);
    expect(wire.sent).toEqual(['+a', '+b']);
  });

  it('has no timer left when the link is lost during a linger', async () => {
    await hold('a');
    await leave();
    upstream.disconnected('files');
    expect(leftovers()).toBe(0);
  });

  it('refuses while there is no link', async () => {
    upstream.disconnected('files');
    await join('anna');
    expect(outcomes).toEqual([
      'anna: SERVER_UNAVAILABLE: server files is not available: it is not connected',
    ]);
    upstream.release('files', 'a');
    upstream.restore('files', ['a']);
    upstream.doubt('files', 'a');
    expect(leftovers()).toBe(0);
  });

  it('subscribes everything again when the link is back, a few at a time, and says so', async () => {
    await hold('a', 'b', 'c', 'd');
    upstream.disconnected('files');
    const next = new FakeUpstream();
    upstream.connected('files', next);
    expect(next.waiting).toEqual(['+a', '+b']);
    await next.answer('+b');
    expect(next.waiting).toEqual(['+a', '+c']);
    await next.answer('+a', REFUSAL);
    await next.answer('+c');
    await next.answer('+d');
    expect(events).toEqual(['restored b', 'subscribe a: no such resource', 'restored c', 'restored d']);
    expect(upstream.size).toBe(3);
    expect(wire.sent).toEqual([]);
  });

  it('has eight requests on their way in the background unless told otherwise', async () => {
    const plain = new UpstreamSubscriptions(
      { has: () => true, of: () => Array.from({ length: 20 }, (_, i) => `${i}`) },
      { restored: () => undefined, failed: () => undefined },
      { lingerMs: 100, schedule: timers.schedule },
    );
    plain.connected('files', wire);
    await settled();
    expect(wire.waiting).toHaveLength(8);
  });

  it('skips what was given up before its turn to be subscribed again', async () => {
    for (const uri of ['a', 'b', 'c']) wanted.add(uri);
    upstream.connected('files', wire);
    await leave('c');
    await wire.answer('+a');
    await wire.answer('+b');
    expect(wire.sent).toEqual(['+a', '+b']);
  });

  it('brings forward what a client asks for, and still tells those who were there before', async () => {
    for (const uri of ['a', 'b', 'c']) wanted.add(uri);
    upstream.connected('files', wire);
    await join('anna', 'c');
    expect(wire.waiting).toEqual(['+a', '+b', '+c']);
    await wire.answer('+a');
    expect(outcomes).toEqual([]);
    events.splice(0);
    await wire.answer('+c');
    expect(outcomes).toEqual(['anna ok']);
    expect(events).toEqual(['restored c']);
  });

  it('lets a client share in what is being subscribed again', async () => {
    wanted.add('a');
    upstream.connected('files', wire);
    await join('anna');
    await wire.answer('+a', REFUSAL);
    expect(wire.sent).toEqual(['+a']);
    expect(outcomes).toEqual(['anna: no such resource']);
    expect(events).toEqual(['subscribe a: no such resource']);
  });

  it('may be asked by its observer at once', async () => {
    const asks = new UpstreamSubscriptions(
      { has: (_server, uri) => wanted.has(uri), of: () => wanted },
      {
        restored: () => undefined,
        failed: (server, _request, uri) => {
          wanted.delete(uri);
          asks.release(server, uri);
          wanted.add(uri);
          void asks.ensure(server, uri);
        },
      },
      { lingerMs: 100, schedule: timers.schedule },
    );
    wanted.add('a');
    asks.connected('files', wire);
    await settled();
    await wire.answer('+a', REFUSAL);
    expect(wire.sent).toEqual(['+a', '+a']);
    await wire.answer('+a');
    expect(asks.size).toBe(1);
  });

  it('may be told by its observer that the link is gone', async () => {
    const ends = new UpstreamSubscriptions(
      { has: (_server, uri) => wanted.has(uri), of: () => wanted },
      { restored: (server) => ends.disconnected(server), failed: () => undefined },
      { lingerMs: 100, schedule: timers.schedule },
    );
    wanted.add('a');
    ends.connected('files', wire);
    wanted.delete('a');
    await wire.answer('+a');
    expect(timers.size).toBe(0);
    expect(ends.size).toBe(0);
  });

  it('sends nothing to a server that takes no subscriptions', async () => {
    wanted.add('a');
    upstream.connected('files', undefined);
    await join('anna');
    expect(outcomes).toEqual(['anna ok']);
    await leave();
    await timers.elapse();
    expect(wire.sent).toEqual([]);
    expect(leftovers()).toBe(0);
  });

  it('keeps servers apart', async () => {
    const other = new FakeUpstream();
    upstream.connected('other', other);
    await hold('a');
    wanted.add('a');
    const joined = upstream.ensure('other', 'a');
    expect(other.sent).toEqual(['+a']);
    await other.answer('+a');
    await joined;
    expect(upstream.size).toBe(2);
    upstream.disconnected('other');
    expect(upstream.sizeOf('files')).toBe(1);
    expect(upstream.size).toBe(1);
  });
});
