import { beforeEach, describe, expect, it } from '@jest/globals';
import { settled } from '../../../test/kit/fake-link.js';
import { ManualTimers, FakeUpstream } from '../../../test/kit/fake-upstream.js';
import { GatewayError, RemoteError } from '../errors.js';
import { UpstreamLane } from './upstream-lane.js';
import { WorkerPool } from '../../lib/queues/worker-pool.js';

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'no error');

const isCollection = (field: unknown): boolean => field instanceof Map || field instanceof WorkerPool;

const REFUSAL = new RemoteError(-32602, 'no such resource', '{}');
const TIMEOUT = new GatewayError('timeout', 'no answer');

describe('UpstreamLane', () => {
  let wanted: Set<string>;
  let wire: FakeUpstream;
  let timers: ManualTimers;
  let events: string[];
  let outcomes: string[];
  let lane: UpstreamLane;

  beforeEach(() => {
    wanted = new Set();
    wire = new FakeUpstream();
    timers = new ManualTimers();
    events = [];
    outcomes = [];
    lane = new UpstreamLane(wire, {
      server: 'files',
      lingerMs: 100,
      parallel: 2,
      schedule: timers.schedule,
      wants: (uri) => wanted.has(uri),
      restored: (uri) => events.push(`restored ${uri}`),
      failed: (request, uri, error) => events.push(`${request} ${uri}: ${messageOf(error)}`),
    });
  });

  /** Somebody joins; what comes of it is in `outcomes`. */
  async function join(who: string, uri = 'a'): Promise<void> {
    wanted.add(uri);
    lane.ensure(uri).then(
      () => outcomes.push(`${who} ok`),
      (error: unknown) => outcomes.push(`${who}: ${messageOf(error)}`),
    );
    await settled();
  }

  async function leave(uri = 'a'): Promise<void> {
    wanted.delete(uri);
    lane.release(uri);
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

  /** How much is remembered. */
  function leftovers(): number {
    const collections = Object.values(lane).filter(isCollection) as { size: number }[];
    expect(collections).toHaveLength(3);
    return collections.reduce((sum, { size }) => sum + size, timers.size + lane.held);
  }

  it('subscribes once, however many ask at the same time', async () => {
    await Promise.all([join('anna'), join('ben'), join('cleo')]);
    expect(wire.sent).toEqual(['+a']);
    expect(outcomes).toEqual([]);
    await wire.answer('+a');
    expect(outcomes).toEqual(['anna ok', 'ben ok', 'cleo ok']);
    await join('dan');
    expect(outcomes).toHaveLength(4);
    expect(wire.sent).toEqual(['+a']);
    expect(lane.held).toBe(1);
  });

  it('fails all who asked when the server refuses, and remembers nothing', async () => {
    await Promise.all([join('anna'), join('ben')]);
    await wire.answer('+a', REFUSAL);
    expect(outcomes).toEqual(['anna: no such resource', 'ben: no such resource']);
    await leave();
    expect(leftovers()).toBe(0);
    expect(events).toEqual([]);
  });

  it('asks again for who comes after a refusal', async () => {
    await join('anna');
    await wire.answer('+a', REFUSAL);
    await join('ben');
    await wire.answer('+a');
    expect(outcomes).toEqual(['anna: no such resource', 'ben ok']);
  });

  it('asks again for who comes at the very moment of a refusal', async () => {
    wanted.add('a');
    const first = lane.ensure('a').catch(() => lane.ensure('a'));
    await settled();
    await wire.answer('+a', REFUSAL);
    expect(wire.sent).toEqual(['+a', '+a']);
    await wire.answer('+a');
    await expect(first).resolves.toBeUndefined();
  });

  it('unsubscribes when the last has left and stays away', async () => {
    await hold('a');
    await leave();
    expect(wire.sent).toEqual([]);
    expect(lane.held).toBe(1);
    await timers.elapse();
    expect(wire.sent).toEqual(['-a']);
    await wire.answer('-a');
    expect(leftovers()).toBe(0);
  });

  it('stays silent when somebody comes back within the linger', async () => {
    await hold('a');
    await leave();
    await join('ben');
    expect(outcomes).toEqual(['ben ok']);
    expect(timers.size).toBe(0);
    await timers.elapse();
    expect(wire.sent).toEqual([]);
  });

  it('stays subscribed when it is wanted again at the end of the linger, though nobody asked', async () => {
    await hold('a');
    await leave();
    wanted.add('a');
    await timers.elapse();
    expect(wire.sent).toEqual([]);
    expect(lane.held).toBe(1);
  });

  it('lingers once, however often it is told', async () => {
    await hold('a');
    await leave();
    await leave();
    expect(timers.size).toBe(1);
  });

  it('does not let go of what somebody else still wants', async () => {
    await hold('a');
    lane.release('a');
    expect(timers.size).toBe(0);
  });

  it('subscribes after the unsubscribe that is under way, never beside it', async () => {
    await hold('a');
    await leave();
    await timers.elapse();
    await Promise.all([join('anna'), join('ben')]);
    expect(wire.sent).toEqual(['-a']);
    await wire.answer('-a');
    expect(wire.sent).toEqual(['-a', '+a']);
    expect(outcomes).toEqual([]);
    await wire.answer('+a');
    expect(outcomes).toEqual(['anna ok', 'ben ok']);
  });

  it('does not subscribe after an unsubscribe for somebody who has left again', async () => {
    await hold('a');
    await leave();
    await timers.elapse();
    await join('anna');
    await leave();
    await wire.answer('-a');
    expect(wire.sent).toEqual(['-a']);
    expect(outcomes).toEqual(['anna ok']);
    expect(leftovers()).toBe(0);
  });

  it('lets go, after the linger, of what everybody left while it was being subscribed', async () => {
    await join('anna');
    await leave();
    await wire.answer('+a');
    expect(timers.size).toBe(1);
    await timers.elapse();
    await wire.answer('-a');
    expect(leftovers()).toBe(0);
  });

  it('lets go of all that are named at once and nobody wants, and of no others', async () => {
    await hold('a1', 'a2', 'a3', 'b');
    for (const uri of ['a1', 'a3', 'b']) wanted.delete(uri);
    lane.releaseMatching((uri) => uri.startsWith('a'));
    await timers.elapse();
    expect(wire.waiting).toEqual(['-a1', '-a3']);
    await wire.answer('-a1');
    await wire.answer('-a3');
    expect(lane.held).toBe(2);
  });

  it('swallows a failed unsubscribe and reports it', async () => {
    await hold('a');
    await leave();
    await timers.elapse();
    await wire.answer('-a', REFUSAL);
    expect(events).toEqual(['unsubscribe a: no such resource']);
    expect(leftovers()).toBe(0);
  });

  it.each([
    ['was never answered', TIMEOUT],
    ['broke off', new GatewayError('server-unavailable', 'no answer')],
    ['failed for a reason nobody thought of', new Error('no answer')],
  ])('undoes a subscribe that %s, for the server may have it', async (_what, error) => {
    await join('anna');
    await wire.answer('+a', error);
    expect(outcomes).toEqual(['anna: no answer']);
    expect(lane.held).toBe(0);
    await leave();
    await timers.elapse();
    await wire.answer('-a');
    expect(wire.sent).toEqual(['+a', '-a']);
    expect(leftovers()).toBe(0);
  });

  it('calls off an unsubscribe that still waits for its turn', async () => {
    await hold('a', 'b', 'c');
    for (const uri of ['a', 'b', 'c']) await leave(uri);
    await timers.elapse();
    expect(wire.waiting).toEqual(['-a', '-b']);
    await join('anna', 'c');
    expect(outcomes).toEqual(['anna ok']);
    await wire.answer('-a');
    await wire.answer('-b');
    expect(wire.sent).toEqual(['-a', '-b']);
  });

  it('lets a client ask at once, whatever goes on in the background', async () => {
    await hold('a', 'b', 'c');
    for (const uri of ['a', 'b', 'c']) await leave(uri);
    await timers.elapse();
    await join('anna', 'd');
    expect(wire.waiting).toEqual(['-a', '-b', '+d']);
  });

  it('lets no more clients ask at once than there are places, in the order in which they came', async () => {
    for (const uri of ['a', 'b', 'c', 'd']) await join(uri, uri);
    expect(wire.waiting).toEqual(['+a', '+b']);
    await wire.answer('+b');
    expect(wire.waiting).toEqual(['+a', '+c']);
    expect(outcomes).toEqual(['b ok']);
  });

  it('asks nothing for who has left while waiting for a place, and lets them go', async () => {
    for (const uri of ['a', 'b', 'c']) await join(uri, uri);
    await leave('c');
    expect(outcomes).toEqual(['c ok']);
    await wire.answer('+a');
    await wire.answer('+b');
    expect(wire.sent).toEqual(['+a', '+b']);
  });

  it('does not put a client who waits for a place behind what nobody waits for', async () => {
    for (const uri of ['a', 'b', 'c']) await join(uri, uri);
    lane.restore('c');
    await wire.answer('+a');
    expect(wire.waiting).toEqual(['+b', '+c']);
    await wire.answer('+c');
    expect([outcomes, events]).toEqual([['a ok', 'c ok'], ['restored c']]);
  });

  it('makes sure of everything again when the server may have forgotten it all', async () => {
    await hold('a', 'b');
    await join('anna', 'c');
    lane.doubtAll();
    for (const uri of ['a', 'b', 'c']) lane.restore(uri);
    expect(wire.waiting).toEqual(['+c', '+a', '+b']);
    for (const request of ['+c', '+a', '+b']) await wire.answer(request);
    expect(events).toEqual(['restored c', 'restored a', 'restored b']);
    expect(lane.held).toBe(3);
  });

  it('says nothing of what is restored after it was found to be gone', async () => {
    for (const uri of ['a', 'b', 'c']) {
      wanted.add(uri);
      lane.restore(uri);
    }
    expect(wire.waiting).toEqual(['+a', '+b']);
    for (const uri of ['a', 'c']) lane.doubt(uri);
    await wire.answer('+a');
    await wire.answer('+b');
    expect(wire.sent).toEqual(['+a', '+b']);
    expect(events).toEqual(['restored b']);
  });

  it('makes sure again of what the server may have forgotten', async () => {
    await hold('a');
    lane.restore('a');
    expect(wire.sent).toEqual([]);
    lane.doubt('a');
    expect(lane.held).toBe(0);
    lane.restore('a');
    await wire.answer('+a');
    expect(events).toEqual(['restored a']);
    expect(lane.held).toBe(1);
  });

  it('stops with its link what stands in for a server that tells of no changes', async () => {
    await hold('a');
    expect(wire.stops).toBe(0);
    lane.end('the connection was lost');
    expect(wire.stops).toBe(1);
  });

  it('unsubscribes from what the server may have forgotten, when nobody wants it', async () => {
    await hold('a');
    lane.doubt('a');
    await leave();
    await timers.elapse();
    expect(wire.sent).toEqual(['-a']);
  });
});
