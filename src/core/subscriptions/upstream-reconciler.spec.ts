import { beforeEach, describe, expect, it } from '@jest/globals';
import { flushPromises } from '../../../test/kit/promises.js';
import { ReconcilerHarness } from '../../../test/kit/reconciler-harness.js';
import { GatewayError, RemoteError } from '../errors.js';

const REFUSAL = new RemoteError(-32602, 'no such resource', '{}');
const TIMEOUT = new GatewayError('timeout', 'no answer');

describe('UpstreamReconciler', () => {
  let harness: ReconcilerHarness;

  beforeEach(() => {
    harness = new ReconcilerHarness();
  });

  describe('for clients that wait', () => {
    it('sends one request for all clients that ask for a URI at the same time', async () => {
      await Promise.all([harness.subscribe('anna'), harness.subscribe('ben'), harness.subscribe('cleo')]);
      expect(harness.upstream.sent).toEqual(['+a']);
      expect(harness.outcomes).toEqual([]);
      await harness.upstream.answer('+a');
      expect(harness.outcomes).toEqual(['anna ok', 'ben ok', 'cleo ok']);
      await harness.subscribe('dan');
      expect(harness.outcomes).toHaveLength(4);
      expect(harness.upstream.sent).toEqual(['+a']);
      expect(harness.reconciler.size).toBe(1);
    });

    it('fails all of them with the refusal of the server, and keeps nothing', async () => {
      await Promise.all([harness.subscribe('anna'), harness.subscribe('ben')]);
      await harness.upstream.answer('+a', REFUSAL);
      expect(harness.outcomes).toEqual(['anna: no such resource', 'ben: no such resource']);
      await harness.unsubscribe();
      expect(harness.leftovers).toBe(0);
      expect(harness.events).toEqual([]);
    });

    it('treats an upstream that throws like a refusal', async () => {
      harness.open({
        subscribe: () => {
          throw REFUSAL;
        },
        unsubscribe: () => Promise.resolve(),
      });
      await harness.subscribe('anna');
      expect(harness.outcomes).toEqual(['anna: no such resource']);
    });

    it('sends another request for a client that asks after a refusal', async () => {
      await harness.subscribe('anna');
      await harness.upstream.answer('+a', REFUSAL);
      await harness.subscribe('ben');
      await harness.upstream.answer('+a');
      expect(harness.outcomes).toEqual(['anna: no such resource', 'ben ok']);
    });

    it('sends another request for a client that asks while the refusal is being handled', async () => {
      harness.wanted.add('a');
      const first = harness.reconciler.confirm('a').catch(() => harness.reconciler.confirm('a'));
      await flushPromises();
      await harness.upstream.answer('+a', REFUSAL);
      expect(harness.upstream.sent).toEqual(['+a', '+a']);
      await harness.upstream.answer('+a');
      await expect(first).resolves.toBeUndefined();
    });

    it('sends no more requests at once than the maximum, first come first served', async () => {
      for (const uri of ['a', 'b', 'c', 'd']) await harness.subscribe(uri, uri);
      expect(harness.upstream.waiting).toEqual(['+a', '+b']);
      await harness.upstream.answer('+b');
      expect(harness.upstream.waiting).toEqual(['+a', '+c']);
      expect(harness.outcomes).toEqual(['b ok']);
    });

    it('sends no request for a client that left the queue, and resolves its wait', async () => {
      for (const uri of ['a', 'b', 'c']) await harness.subscribe(uri, uri);
      await harness.unsubscribe('c');
      expect(harness.outcomes).toEqual(['c ok']);
      await harness.upstream.answer('+a');
      await harness.upstream.answer('+b');
      expect(harness.upstream.sent).toEqual(['+a', '+b']);
    });

    it('sends one request for a client that left the queue and came back', async () => {
      for (const uri of ['a', 'b', 'c']) await harness.subscribe(uri, uri);
      await harness.unsubscribe('c');
      await harness.subscribe('again', 'c');
      await harness.upstream.answer('+a');
      await harness.upstream.answer('+b');
      expect(harness.upstream.sent).toEqual(['+a', '+b', '+c']);
      await harness.upstream.answer('+c');
      expect(harness.outcomes.at(-1)).toBe('again ok');
    });

    it('does not make them wait for background requests', async () => {
      await harness.hold('a', 'b', 'c');
      for (const uri of ['a', 'b', 'c']) await harness.unsubscribe(uri);
      await harness.timers.elapse();
      await harness.subscribe('anna', 'd');
      expect(harness.upstream.waiting).toEqual(['-a', '-b', '+d']);
    });

    it('keeps a client in its place of the queue when its URI is marked dirty', async () => {
      for (const uri of ['a', 'b', 'c']) await harness.subscribe(uri, uri);
      harness.reconciler.markDirty('c');
      await harness.upstream.answer('+a');
      expect(harness.upstream.waiting).toEqual(['+b', '+c']);
      await harness.upstream.answer('+c');
      expect([harness.outcomes, harness.events]).toEqual([['a ok', 'c ok'], ['resubscribed c']]);
    });

    it('moves a background request forward that a client asks for, and still reports it', async () => {
      harness.want('a', 'b', 'c');
      await harness.subscribe('anna', 'c');
      expect(harness.upstream.waiting).toEqual(['+a', '+b', '+c']);
      await harness.upstream.answer('+a');
      expect(harness.outcomes).toEqual([]);
      harness.events.splice(0);
      await harness.upstream.answer('+c');
      expect(harness.outcomes).toEqual(['anna ok']);
      expect(harness.events).toEqual(['resubscribed c']);
    });

    it('shares the outcome of a background request that is in flight', async () => {
      harness.want('a');
      await harness.subscribe('anna');
      await harness.upstream.answer('+a', REFUSAL);
      expect(harness.upstream.sent).toEqual(['+a']);
      expect(harness.outcomes).toEqual(['anna: no such resource']);
      expect(harness.events).toEqual(['subscribe a: no such resource']);
    });
  });

  describe('without subscribers', () => {
    it('unsubscribes after the linger', async () => {
      await harness.hold('a');
      await harness.unsubscribe();
      expect(harness.upstream.sent).toEqual([]);
      expect(harness.reconciler.size).toBe(1);
      await harness.timers.elapse();
      expect(harness.upstream.sent).toEqual(['-a']);
      await harness.upstream.answer('-a');
      expect(harness.leftovers).toBe(0);
    });

    it('sends nothing when a client subscribes again within the linger', async () => {
      await harness.hold('a');
      await harness.unsubscribe();
      await harness.subscribe('ben');
      expect(harness.outcomes).toEqual(['ben ok']);
      expect(harness.timers.size).toBe(0);
      await harness.timers.elapse();
      expect(harness.upstream.sent).toEqual([]);
    });

    it('keeps a URI that is wanted again at the end of the linger, even if it was not marked dirty', async () => {
      await harness.hold('a');
      await harness.unsubscribe();
      harness.wanted.add('a');
      await harness.timers.elapse();
      expect(harness.upstream.sent).toEqual([]);
      expect(harness.reconciler.size).toBe(1);
    });

    it('starts one linger, however often the URI is marked dirty', async () => {
      await harness.hold('a');
      await harness.unsubscribe();
      await harness.unsubscribe();
      expect(harness.timers.size).toBe(1);
    });

    it('starts the linger again when a client subscribed and left meanwhile', async () => {
      await harness.hold('a', 'b', 'c');
      for (const uri of ['a', 'b', 'c']) await harness.unsubscribe(uri);
      await harness.timers.elapse();
      await harness.subscribe('anna', 'c');
      await harness.unsubscribe('c');
      await harness.upstream.answer('-a');
      await harness.upstream.answer('-b');
      expect(harness.upstream.sent).toEqual(['-a', '-b']);
      await harness.timers.elapse();
      expect(harness.upstream.waiting).toEqual(['-c']);
    });

    it('keeps a URI that is still wanted', async () => {
      await harness.hold('a');
      harness.reconciler.markDirty('a');
      expect(harness.timers.size).toBe(0);
    });

    it('sends nothing when a row is removed and the URI is still wanted', async () => {
      harness.wanted.add('a');
      harness.reconciler.rowRemoved('a');
      await harness.subscribe('anna');
      await harness.upstream.answer('+a');
      expect(harness.upstream.sent).toEqual(['+a']);
      expect(harness.events).toEqual([]);
    });

    it('subscribes after the unsubscribe in flight, never beside it', async () => {
      await harness.hold('a');
      await harness.unsubscribe();
      await harness.timers.elapse();
      await Promise.all([harness.subscribe('anna'), harness.subscribe('ben')]);
      expect(harness.upstream.sent).toEqual(['-a']);
      await harness.upstream.answer('-a');
      expect(harness.upstream.sent).toEqual(['-a', '+a']);
      expect(harness.outcomes).toEqual([]);
      await harness.upstream.answer('+a');
      expect(harness.outcomes).toEqual(['anna ok', 'ben ok']);
    });

    it('does not subscribe after an unsubscribe for a client that has left again', async () => {
      await harness.hold('a');
      await harness.unsubscribe();
      await harness.timers.elapse();
      await harness.subscribe('anna');
      await harness.unsubscribe();
      await harness.upstream.answer('-a');
      expect(harness.upstream.sent).toEqual(['-a']);
      expect(harness.outcomes).toEqual(['anna ok']);
      expect(harness.leftovers).toBe(0);
    });

    it('unsubscribes after the linger when all clients left during the subscribe', async () => {
      await harness.subscribe('anna');
      await harness.unsubscribe();
      await harness.upstream.answer('+a');
      expect(harness.timers.size).toBe(1);
      await harness.timers.elapse();
      await harness.upstream.answer('-a');
      expect(harness.leftovers).toBe(0);
    });

    it('unsubscribes exactly the URIs that are not wanted when a pattern is removed', async () => {
      await harness.hold('a1', 'a2', 'a3', 'b');
      for (const uri of ['a1', 'a3', 'b']) harness.wanted.delete(uri);
      harness.reconciler.patternRemoved((uri) => uri.startsWith('a'));
      await harness.timers.elapse();
      expect(harness.upstream.waiting).toEqual(['-a1', '-a3']);
      await harness.upstream.answer('-a1');
      await harness.upstream.answer('-a3');
      expect(harness.reconciler.size).toBe(2);
    });

    it('reports a failed unsubscribe and keeps nothing', async () => {
      await harness.hold('a');
      await harness.unsubscribe();
      await harness.timers.elapse();
      await harness.upstream.answer('-a', REFUSAL);
      expect(harness.events).toEqual(['unsubscribe a: no such resource']);
      expect(harness.leftovers).toBe(0);
    });

    it.each([
      ['was not answered', TIMEOUT],
      ['was interrupted', new GatewayError('server-unavailable', 'no answer')],
      ['failed for an unexpected reason', new Error('no answer')],
    ])('unsubscribes after a subscribe that %s, because the server may hold it', async (_what, error) => {
      await harness.subscribe('anna');
      await harness.upstream.answer('+a', error);
      expect(harness.outcomes).toEqual(['anna: no answer']);
      expect(harness.reconciler.size).toBe(0);
      await harness.unsubscribe();
      await harness.timers.elapse();
      await harness.upstream.answer('-a');
      expect(harness.upstream.sent).toEqual(['+a', '-a']);
      expect(harness.leftovers).toBe(0);
    });

    it('cancels an unsubscribe that is still queued when a client subscribes', async () => {
      await harness.hold('a', 'b', 'c');
      for (const uri of ['a', 'b', 'c']) await harness.unsubscribe(uri);
      await harness.timers.elapse();
      expect(harness.upstream.waiting).toEqual(['-a', '-b']);
      await harness.subscribe('anna', 'c');
      expect(harness.outcomes).toEqual(['anna ok']);
      await harness.upstream.answer('-a');
      await harness.upstream.answer('-b');
      expect(harness.upstream.sent).toEqual(['-a', '-b']);
    });
  });
});
