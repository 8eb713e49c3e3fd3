import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { FakeClient, type FakeCaller } from '../../../test/kit/fake-client.js';
import { GatewayError } from '../../core/errors.js';
import { Cancellation } from '../../lib/cancellation/cancellation.js';
import type { JsonDocument } from '../../lib/json-text/json-document.js';
import { JsonReader } from '../../lib/json-text/json-reader.js';
import { JsonText } from '../../lib/json-text/json-text.js';
import { SERVER_JSON_LIMITS } from '../../mcp/json-limits.js';
import type { Caller } from '../../mcp/mcp-context.js';
import { LATEST_REVISION } from '../../mcp/revisions/revision.js';
import { MAX_ABANDONED } from './abandoned-requests.js';
import { EndedCalls, ORIGIN_GRACE_MS } from './ended-calls.js';
import { PendingRequests, type AbandonReason, type PendingRequest } from './pending-requests.js';

class Harness {
  readonly abandoned: [id: number, reason: AbandonReason][] = [];
  readonly limits: string[] = [];
  readonly outcomes: (JsonText | Error)[] = [];
  waitingCaller: Caller | undefined;
  readonly pending: PendingRequests;

  constructor(ended = new EndedCalls()) {
    const events = {
      abandoned: ({ id }: PendingRequest, reason: AbandonReason): unknown =>
        this.abandoned.push([id, reason]),
      removed: () => {},
      limitReached: (limit: string): unknown => this.limits.push(limit),
      isWaitingForClient: (caller: Caller) => caller === this.waitingCaller,
      errorOfRefusal: (error: Error) => error,
    };
    this.pending = new PendingRequests('db', events, false, ended);
  }

  add(caller?: FakeCaller, timeoutMs = 1000, deadline?: number): PendingRequest {
    const settle = (outcome: JsonText | Error): void => void this.outcomes.push(outcome);
    return this.pending.add({ method: 'x', caller, timeoutMs, deadline }, settle, settle);
  }

  respond(id: number): void {
    this.pending.respond({ kind: 'response', id, outcome: 'result', json: new JsonText('{}') });
  }
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('PendingRequests', () => {
  it('assigns a unique id to every request', () => {
    const harness = new Harness();
    const ids = Array.from({ length: 5 }, () => {
      const { id } = harness.add();
      harness.respond(id);
      return id;
    });
    expect(new Set(ids).size).toBe(5);
  });

  it('settles a request once', () => {
    const harness = new Harness();
    const { id } = harness.add();
    harness.respond(id);
    harness.respond(id);
    harness.pending.fail(id, new Error('late'));
    expect(harness.outcomes).toEqual([expect.any(JsonText)]);
  });

  it('counts an error whose data is not forwarded because it is too long', () => {
    const harness = new Harness();
    const error = JSON.stringify({ code: 1, message: 'failed', data: 'x'.repeat(1_048_576) });
    const reader = new JsonReader({ ...SERVER_JSON_LIMITS, maxBytes: 2_097_152 });
    const json = (reader.read(Buffer.from(`{"error":${error}}`)) as JsonDocument).member('error')!;
    harness.pending.respond({ kind: 'response', id: harness.add().id, outcome: 'error', json });
    expect(harness.limits).toEqual(['error-data']);
    expect(harness.outcomes).toMatchObject([{ text: '{"code":1,"message":"failed"}' }]);
  });

  it('abandons a request when its caller cancels', () => {
    const harness = new Harness();
    const caller = new FakeClient('a').call();
    const { id } = harness.add(caller);
    caller.cancel();
    expect(harness.abandoned).toEqual([[id, 'cancelled']]);
  });

  it('rejects with the error with which the gateway ended the request', () => {
    const harness = new Harness();
    const signal = new Cancellation();
    const error = new GatewayError('timeout', 'not answered');
    const settle = (outcome: JsonText | Error): void => void harness.outcomes.push(outcome);
    harness.pending.add({ method: 'x', timeoutMs: 1000, signal }, settle, settle);
    signal.abort(error);
    expect(harness.outcomes).toEqual([error]);
  });

  it('leaves no listener and no timer behind when all requests fail', () => {
    const harness = new Harness();
    const callers = [new FakeClient('a').call(), new FakeClient('b').call()];
    for (const caller of callers) harness.add(caller);
    const error = new Error('closed');
    harness.pending.failAll(error);
    expect(harness.outcomes).toEqual([error, error]);
    expect(callers.map(({ abortListeners }) => abortListeners)).toEqual([0, 0]);
    harness.pending.failAll(error);
    expect(harness.outcomes).toHaveLength(2);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('extends a timeout only while the server waits for the client', () => {
    const harness = new Harness();
    const caller = new FakeClient('a').call();
    const other = new FakeClient('b').call();
    const { id } = harness.add(caller);
    harness.add(other);
    harness.waitingCaller = caller;
    jest.advanceTimersByTime(5000);
    expect(harness.abandoned).toEqual([[id + 1, 'timeout']]);
    harness.waitingCaller = undefined;
    jest.advanceTimersByTime(1100);
    expect(harness.abandoned).toContainEqual([id, 'timeout']);
  });

  it('times out when its maximum has passed before the deadline is checked', () => {
    const harness = new Harness();
    const caller = new FakeClient('a').call();
    const { id } = harness.add(caller);
    harness.waitingCaller = caller;
    const late = performance.now() + 60_000;
    jest.spyOn(performance, 'now').mockReturnValue(late);
    jest.advanceTimersByTime(1000);
    expect(harness.abandoned).toEqual([[id, 'timeout']]);
  });

  it('does not time out while its call is parked, however long that is, and has its whole timeout after the answer', () => {
    const harness = new Harness();
    const revision = { ...LATEST_REVISION, era: '2026' as const };
    const caller = Object.assign(new FakeClient('a').call(), { isParked: true, revision });
    const { id } = harness.add(caller);
    harness.waitingCaller = caller;
    jest.advanceTimersByTime(9_500);
    expect(harness.abandoned).toEqual([]);
    jest.advanceTimersByTime(30_000);
    harness.waitingCaller = undefined;
    caller.isParked = false;
    harness.pending.extendDeadlines(new Set([caller]));
    jest.advanceTimersByTime(990);
    expect(harness.abandoned).toEqual([]);
    jest.advanceTimersByTime(20);
    expect(harness.abandoned).toEqual([[id, 'timeout']]);
  });

  it('has its whole timeout after the answer, also shortly before the maximum', () => {
    const harness = new Harness();
    const caller = Object.assign(new FakeClient('a').call(), {
      revision: { ...LATEST_REVISION, era: '2026' as const },
    });
    const { id } = harness.add(caller);
    for (let second = 0; second < 11; second++) {
      jest.advanceTimersByTime(900);
      harness.pending.receiveProgress(id, '{"progressToken":1,"progress":1}');
    }
    harness.pending.extendDeadlines(new Set([caller]));
    jest.advanceTimersByTime(900);
    expect(harness.abandoned).toEqual([]);
  });

  it('abandons a request at its deadline, also when that is earlier than its timeout after sending', () => {
    const harness = new Harness();
    const { id } = harness.add(undefined, 1000, performance.now() + 100);
    jest.advanceTimersByTime(99);
    expect(harness.abandoned).toEqual([]);
    jest.advanceTimersByTime(2);
    expect(harness.abandoned).toEqual([[id, 'timeout']]);
  });

  it('restarts the timeout of the given callers and of no other', () => {
    const harness = new Harness();
    const caller = new FakeClient('a').call();
    harness.add(caller);
    const { id } = harness.add(new FakeClient('a').call());
    jest.advanceTimersByTime(900);
    harness.pending.extendDeadlines(new Set([caller]));
    jest.advanceTimersByTime(900);
    expect(harness.abandoned).toEqual([[id, 'timeout']]);
  });
});

function withRequests(clients: readonly number[]) {
  const harness = new Harness();
  const fakeClients = [0, 1, 2].map((n) => new FakeClient(String(n)));
  const callers = clients.map((n) => fakeClients[n]?.call());
  const requests = callers.map((caller) => harness.add(caller));
  return { harness, callers, requests };
}

describe('PendingRequests.origin', () => {
  /** The client behind each request in flight; -1 is the gateway itself. */
  const clientsInFlight = fc.array(fc.integer({ min: -1, max: 2 }), { maxLength: 6 });

  it('is, on a shared stream, all calls of the only calling client, and ambiguous with several clients', () => {
    fc.assert(
      fc.property(clientsInFlight, (clients) => {
        const { harness, callers } = withRequests(clients);
        const distinct = new Set(clients.filter((n) => n >= 0));
        const { callers: found, isAmbiguous } = harness.pending.origin(undefined);
        expect(isAmbiguous).toBe(distinct.size > 1);
        expect(found).toEqual(distinct.size > 1 ? [] : callers.filter((caller) => caller !== undefined));
        harness.pending.failAll(new Error('closed'));
      }),
    );
  });

  it('is ambiguous for a second after a call was abandoned', () => {
    const harness = new Harness();
    const [cancelled, other] = [new FakeClient('a').call(), new FakeClient('b').call()];
    harness.add(cancelled);
    cancelled.cancel();
    harness.add(other, 5000);
    jest.advanceTimersByTime(999);
    expect(harness.pending.origin(undefined)).toMatchObject({ callers: [], isAmbiguous: true });
    jest.advanceTimersByTime(1);
    expect(harness.pending.origin(undefined).callers).toEqual([other]);
  });

  it('is ambiguous after more abandoned calls than are stored, which are counted', () => {
    const harness = new Harness();
    const client = new FakeClient('a');
    const callers = Array.from({ length: MAX_ABANDONED + 2 }, () => {
      const caller = client.call();
      const { id } = harness.add(caller);
      return { id, caller };
    });
    for (const { caller } of callers.slice(0, MAX_ABANDONED)) caller.cancel();
    expect([harness.limits, harness.pending.origin(undefined).isAmbiguous]).toEqual([[], false]);
    jest.advanceTimersByTime(500);
    for (const { caller } of callers.slice(MAX_ABANDONED)) caller.cancel();
    expect(harness.limits).toEqual(['abandoned-requests', 'abandoned-requests']);
    expect(harness.pending.origin(undefined).isAmbiguous).toBe(true);
    for (const { id } of callers) harness.respond(id);
    expect(harness.pending.origin(undefined).isAmbiguous).toBe(true);
    jest.advanceTimersByTime(1000);
    expect(harness.pending.origin(undefined).isAmbiguous).toBe(false);
  });

  it('is ambiguous after more abandoned calls than are stored, whose grace ended before messages were read', () => {
    const harness = new Harness();
    const client = new FakeClient('a');
    const callers = Array.from({ length: MAX_ABANDONED + 1 }, () => {
      const caller = client.call();
      harness.add(caller);
      return caller;
    });
    for (const caller of callers) caller.cancel();
    client.close();
    const interruptedAt = performance.now();
    jest.advanceTimersByTime(60_000);
    expect(harness.pending.origin(undefined).isAmbiguous).toBe(false);
    harness.pending.expectMessagesSince(interruptedAt);
    jest.advanceTimersByTime(999);
    expect(harness.pending.origin(undefined).isAmbiguous).toBe(true);
    jest.advanceTimersByTime(1);
    expect(harness.pending.origin(undefined).isAmbiguous).toBe(false);
    harness.pending.expectMessagesSince(performance.now());
    expect(harness.pending.origin(undefined).isAmbiguous).toBe(false);
  });

  it('is no longer ambiguous a second after the last call of another client was abandoned', () => {
    const harness = new Harness();
    const [slow, fast] = [new FakeClient('a'), new FakeClient('b')];
    const [first, second] = [slow.call(), fast.call()];
    harness.add(first, 5000);
    harness.add(second, 1000);
    first.cancel();
    second.cancel();
    const next = slow.call();
    harness.add(next, 60_000);
    expect(harness.pending.origin(undefined).isAmbiguous).toBe(true);
    jest.advanceTimersByTime(1000);
    expect(harness.pending.origin(undefined).callers).toEqual([next]);
  });

  /** When the call is cancelled, and when the stream is interrupted; how long after its opening the message comes. */
  it.each([
    [0, ORIGIN_GRACE_MS - 1, ORIGIN_GRACE_MS - 1, true],
    [0, ORIGIN_GRACE_MS - 1, ORIGIN_GRACE_MS, false],
    [0, ORIGIN_GRACE_MS, 0, false],
    [500, 0, ORIGIN_GRACE_MS - 1, true],
  ])(
    'of a call cancelled after %i ms, with the stream interrupted after %i ms, is ambiguous %i ms after its opening: %s',
    (cancelledMs, interruptedMs, afterMs, ambiguous) => {
      const harness = new Harness();
      const caller = new FakeClient('a').call();
      harness.add(caller, 60_000);
      const interruptedAt = performance.now() + interruptedMs;
      jest.advanceTimersByTime(cancelledMs);
      caller.cancel();
      jest.advanceTimersByTime(60_000);
      harness.pending.expectMessagesSince(interruptedAt);
      jest.advanceTimersByTime(afterMs);
      expect(harness.pending.origin(undefined).isAmbiguous).toBe(ambiguous);
    },
  );

  it('is known at the opening of the stream if the session of a cancelled call ended within the grace', () => {
    const harness = new Harness();
    const caller = new FakeClient('a').call();
    harness.add(caller);
    const interruptedAt = performance.now();
    caller.cancel();
    caller.session.close();
    jest.advanceTimersByTime(60_000);
    harness.pending.expectMessagesSince(interruptedAt);
    expect(harness.pending.origin(undefined).isAmbiguous).toBe(false);
  });

  it('is ambiguous for a second on the next link to the server after a call was cancelled on a link that closed', () => {
    const ended = new EndedCalls();
    const [first, second] = [new Harness(ended), new Harness(ended)];
    const caller = new FakeClient('a').call();
    first.add(caller);
    caller.cancel();
    first.pending.failAll(new Error('closed'));
    jest.advanceTimersByTime(999);
    expect(second.pending.origin(undefined).isAmbiguous).toBe(true);
    jest.advanceTimersByTime(1);
    expect(second.pending.origin(undefined).isAmbiguous).toBe(false);
  });

  it('is the request on whose stream the message came', () => {
    fc.assert(
      fc.property(clientsInFlight, fc.nat(5), (clients, index) => {
        const { harness, callers, requests } = withRequests(clients);
        const pending = requests[index];
        const origin = harness.pending.origin(pending?.id ?? 'finished');
        expect(origin.isAmbiguous).toBe(pending === undefined);
        expect(origin.callers).toEqual(callers[index] ? [callers[index]] : []);
        harness.pending.failAll(new Error('closed'));
      }),
    );
  });
});
