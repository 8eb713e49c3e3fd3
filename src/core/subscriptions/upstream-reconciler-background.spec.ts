import { beforeEach, describe, expect, it } from '@jest/globals';
import { flushPromises } from '../../../test/kit/promises.js';
import { FakeUpstream, ReconcilerHarness } from '../../../test/kit/reconciler-harness.js';
import { GatewayError, RemoteError } from '../errors.js';

const REFUSAL = new RemoteError(-32602, 'no such resource', '{}');
const TIMEOUT = new GatewayError('timeout', 'no answer');

describe('UpstreamReconciler', () => {
  let harness: ReconcilerHarness;

  beforeEach(() => {
    harness = new ReconcilerHarness();
  });

  /** Updates of these resources, which are wanted, may be lost. */
  function gap(...uris: string[]): void {
    harness.reconciler.invalidate();
    harness.want(...uris);
  }

  describe('in the background', () => {
    it('subscribes everything that is wanted over a new link, a few at a time, and reports each', async () => {
      await harness.hold('a', 'b', 'c', 'd');
      harness.reconciler.close('the connection was lost');
      const next = new FakeUpstream();
      harness.open(next);
      harness.want('a', 'b', 'c', 'd');
      expect(next.waiting).toEqual(['+a', '+b']);
      await next.answer('+b');
      expect(next.waiting).toEqual(['+a', '+c']);
      await next.answer('+a', REFUSAL);
      await next.answer('+c');
      await next.answer('+d');
      expect(harness.events).toEqual([
        'resubscribed b',
        'subscribe a: no such resource',
        'resubscribed c',
        'resubscribed d',
      ]);
      expect(harness.reconciler.size).toBe(3);
      expect(harness.upstream.sent).toEqual([]);
    });

    it('skips a queued URI that is not wanted any more', async () => {
      harness.want('a', 'b', 'c');
      await harness.unsubscribe('c');
      await harness.upstream.answer('+a');
      await harness.upstream.answer('+b');
      expect(harness.upstream.sent).toEqual(['+a', '+b']);
    });

    it('subscribes everything again that the server may have dropped', async () => {
      await harness.hold('a', 'b');
      await harness.subscribe('anna', 'c');
      harness.reconciler.invalidate();
      harness.want('a', 'b', 'c');
      expect(harness.upstream.waiting).toEqual(['+c', '+a', '+b']);
      for (const request of ['+c', '+a', '+b']) await harness.upstream.answer(request);
      expect(harness.events).toEqual(['resubscribed c', 'resubscribed a', 'resubscribed b']);
      expect(harness.reconciler.size).toBe(3);
    });

    it('reports a resource once that the server updates before it confirms the subscription after a gap', async () => {
      await harness.hold('a', 'b');
      gap('a', 'b');
      harness.reconciler.updateReceived('a');
      for (const request of ['+a', '+b']) await harness.upstream.answer(request);
      expect(harness.events).toEqual(['resubscribed b']);
      gap('a', 'b');
      for (const request of ['+a', '+b']) await harness.upstream.answer(request);
      expect(harness.events).toEqual(['resubscribed b', 'resubscribed a', 'resubscribed b']);
    });

    it('reports a resource whose updates are lost again after the update', async () => {
      await harness.hold('a', 'b');
      gap('a', 'b');
      harness.reconciler.updateReceived('a');
      gap('a', 'b');
      for (const request of ['+a', '+b']) await harness.upstream.answer(request);
      expect(harness.events).toEqual(['resubscribed a', 'resubscribed b']);
    });

    it('reports a resource whose subscription is refused after the update', async () => {
      await harness.hold('a', 'b');
      gap('a', 'b');
      harness.reconciler.updateReceived('a');
      await harness.upstream.answer('+a', REFUSAL);
      await harness.upstream.answer('+b');
      await harness.timers.elapse();
      await harness.upstream.answer('+a');
      expect(harness.events).toEqual(['subscribe a: no such resource', 'resubscribed b', 'resubscribed a']);
    });

    it('reports a queued resource that is gone after the update and listed again', async () => {
      await harness.hold('a', 'b', 'c');
      gap('a', 'b', 'c');
      harness.reconciler.updateReceived('c');
      harness.reconciler.resourceGone('c');
      for (const request of ['+a', '+b']) await harness.upstream.answer(request);
      harness.reconciler.resourceListed('c');
      await harness.upstream.answer('+c');
      expect(harness.events).toEqual(['resubscribed a', 'resubscribed b', 'resubscribed c']);
    });

    it('reports a resource that the server updates before its first subscription is confirmed', async () => {
      harness.want('a');
      harness.reconciler.updateReceived('a');
      await harness.upstream.answer('+a');
      expect(harness.events).toEqual(['resubscribed a']);
    });

    it('does not subscribe or report a resource that is gone', async () => {
      harness.want('a', 'b', 'c');
      expect(harness.upstream.waiting).toEqual(['+a', '+b']);
      for (const uri of ['a', 'c']) harness.reconciler.resourceGone(uri);
      await harness.upstream.answer('+a');
      await harness.upstream.answer('+b');
      expect(harness.upstream.sent).toEqual(['+a', '+b']);
      expect(harness.events).toEqual(['resubscribed b']);
    });

    it('subscribes to a resource again that was gone and is listed again', async () => {
      await harness.hold('a');
      harness.reconciler.markDirty('a');
      expect(harness.upstream.sent).toEqual([]);
      harness.reconciler.resourceGone('a');
      expect(harness.reconciler.size).toBe(0);
      harness.reconciler.markDirty('a');
      expect(harness.upstream.sent).toEqual([]);
      harness.reconciler.resourceListed('a');
      await harness.upstream.answer('+a');
      expect(harness.events).toEqual(['resubscribed a']);
      expect(harness.reconciler.size).toBe(1);
    });

    it('subscribes to a resource that is gone again after a gap in the notifications', async () => {
      await harness.hold('a');
      harness.reconciler.resourceGone('a');
      harness.reconciler.invalidate();
      harness.want('a');
      await harness.upstream.answer('+a');
      expect(harness.events).toEqual(['resubscribed a']);
    });

    it('unsubscribes from a resource that is gone and not wanted', async () => {
      await harness.hold('a');
      harness.reconciler.resourceGone('a');
      await harness.unsubscribe();
      await harness.timers.elapse();
      expect(harness.upstream.sent).toEqual(['-a']);
    });

    it('accepts calls from its event listeners', async () => {
      harness.open(harness.upstream, {
        resubscribed: () => undefined,
        failed: (_request, uri) => {
          harness.wanted.delete(uri);
          harness.reconciler.markDirty(uri);
          harness.wanted.add(uri);
          void harness.reconciler.confirm(uri);
        },
      });
      harness.want('a');
      await flushPromises();
      await harness.upstream.answer('+a', REFUSAL);
      expect(harness.upstream.sent).toEqual(['+a', '+a']);
      await harness.upstream.answer('+a');
      expect(harness.reconciler.size).toBe(1);
    });
  });

  describe('after a failure in the background', () => {
    it('subscribes again when the retry is due, and reports it then', async () => {
      harness.want('a', 'b');
      await harness.upstream.answer('+a', REFUSAL);
      await harness.upstream.answer('+b', TIMEOUT);
      expect(harness.timers.size).toBe(1);
      await harness.timers.elapse();
      expect(harness.upstream.sent).toEqual(['+a', '+b', '+a', '+b']);
      await harness.upstream.answer('+a');
      await harness.upstream.answer('+b');
      expect(harness.events.slice(2)).toEqual(['resubscribed a', 'resubscribed b']);
      expect(harness.timers.size).toBe(0);
    });

    it('does not retry a resource that is not offered or not wanted any more', async () => {
      harness.want('a', 'b');
      await harness.upstream.answer('+a', REFUSAL);
      await harness.upstream.answer('+b', REFUSAL);
      harness.isOffered = (uri) => uri !== 'a';
      harness.wanted.delete('b');
      await harness.timers.elapse();
      expect(harness.upstream.sent).toEqual(['+a', '+b']);
      await harness.unsubscribe('a');
      expect(harness.leftovers).toBe(0);
    });

    it('plans no retry of a URI that is not wanted any more', () => {
      harness.reconciler.retryLater('a');
      expect(harness.leftovers).toBe(0);
    });

    it('retries a URI that it was asked to retry', async () => {
      await harness.subscribe('anna');
      await harness.upstream.answer('+a', REFUSAL);
      harness.reconciler.retryLater('a');
      await harness.timers.elapse();
      await harness.upstream.answer('+a');
      expect(harness.events).toEqual(['resubscribed a']);
    });
  });

  describe('when its link is closed', () => {
    const LOST = 'the connection was lost';

    it('fails clients that wait, deletes the actual state and ignores late responses', async () => {
      await harness.hold('a');
      await harness.subscribe('anna', 'b');
      harness.reconciler.close(LOST);
      await flushPromises();
      const error = 'SERVER_UNAVAILABLE: server files is not available: the connection was lost';
      expect(harness.outcomes).toEqual([`anna: ${error}`]);
      expect(harness.reconciler.size).toBe(0);
      await harness.upstream.answer('+b');
      expect(harness.reconciler.size).toBe(0);
      expect(harness.upstream.sent).toEqual(['+b']);
      expect(harness.leftovers).toBe(0);
      await harness.subscribe('ben', 'a');
      harness.reconciler.markDirty('a');
      harness.reconciler.retryLater('a');
      expect(harness.outcomes.at(-1)).toBe(`ben: ${error}`);
      expect(harness.leftovers).toBe(0);
    });

    it('sends nothing more, and starts no timer for late responses', async () => {
      harness.want('a', 'b', 'c');
      harness.reconciler.close(LOST);
      harness.wanted.delete('a');
      await harness.upstream.answer('+a');
      await harness.upstream.answer('+b', REFUSAL);
      expect(harness.events).toEqual([]);
      expect(harness.timers.size).toBe(0);
      expect(harness.upstream.sent).toEqual(['+a', '+b']);
    });

    it('leaves no timer of a linger or a retry', async () => {
      await harness.hold('a');
      await harness.unsubscribe();
      harness.want('b');
      await harness.upstream.answer('+b', REFUSAL);
      expect(harness.timers.size).toBe(2);
      harness.reconciler.close(LOST);
      expect(harness.leftovers).toBe(0);
    });

    it('stops its upstream', async () => {
      await harness.hold('a');
      expect(harness.upstream.stops).toBe(0);
      harness.reconciler.close(LOST);
      expect(harness.upstream.stops).toBe(1);
    });

    it('may be closed by a listener of its events', async () => {
      harness.open(harness.upstream, {
        resubscribed: () => harness.reconciler.close(LOST),
        failed: () => undefined,
      });
      harness.want('a');
      harness.wanted.delete('a');
      await harness.upstream.answer('+a');
      expect(harness.timers.size).toBe(0);
      expect(harness.reconciler.size).toBe(0);
    });
  });
});
