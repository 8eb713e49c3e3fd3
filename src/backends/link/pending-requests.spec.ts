import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { FakeClient, type FakeCaller } from '../../../test/kit/fake-link.js';
import type { Caller } from '../../mcp/mcp-context.js';
import { PendingRequests, type AbandonReason, type PendingRequest } from './pending-requests.js';

const nothing = (): void => {};

class Requests {
  readonly givenUp: [id: number, why: AbandonReason][] = [];
  asked: Caller | undefined;
  readonly pending = new PendingRequests(
    (pending, why) => {
      if (this.pending.remove(pending)) this.givenUp.push([pending.id, why]);
    },
    (caller) => caller === this.asked,
  );

  open(caller?: FakeCaller, timeoutMs = 1000): PendingRequest {
    return this.pending.open({ method: 'x', caller, timeoutMs }, nothing, nothing);
  }
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('the requests of a link', () => {
  it('have ids that no other request ever had', () => {
    const requests = new Requests();
    const ids = Array.from({ length: 5 }, () => {
      const { id } = requests.open();
      requests.pending.remove(requests.pending.get(id)!);
      return id;
    });
    expect(new Set(ids).size).toBe(5);
  });

  it('can be settled once', () => {
    const requests = new Requests();
    const pending = requests.open();
    expect(requests.pending.remove(pending)).toBe(true);
    expect(requests.pending.remove(pending)).toBe(false);
    expect(requests.pending.get(pending.id)).toBeUndefined();
  });

  it('are given up when their client cancels', () => {
    const requests = new Requests();
    const caller = new FakeClient('a').call();
    const { id } = requests.open(caller);
    caller.cancel();
    expect(requests.givenUp).toEqual([[id, 'cancelled']]);
  });

  it('leave nothing behind when all are abandoned', () => {
    const requests = new Requests();
    const callers = [new FakeClient('a').call(), new FakeClient('b').call()];
    const opened = callers.map((caller) => requests.open(caller));
    expect(requests.pending.removeAll()).toEqual(opened);
    expect(callers.map(({ abortListeners }) => abortListeners)).toEqual([0, 0]);
    expect(requests.pending.removeAll()).toEqual([]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('wait longer than their timeout only while their client is asked', () => {
    const requests = new Requests();
    const caller = new FakeClient('a').call();
    const other = new FakeClient('b').call();
    const { id } = requests.open(caller);
    requests.open(other);
    requests.asked = caller;
    jest.advanceTimersByTime(5000);
    expect(requests.givenUp).toEqual([[id + 1, 'timeout']]);
    requests.asked = undefined;
    jest.advanceTimersByTime(1100);
    expect(requests.givenUp).toContainEqual([id, 'timeout']);
  });

  it('have their timeout again when the calls behind them are prolonged, and nobody else has', () => {
    const requests = new Requests();
    const caller = new FakeClient('a').call();
    requests.open(caller);
    const { id } = requests.open(new FakeClient('a').call());
    jest.advanceTimersByTime(900);
    requests.pending.extendDeadlines(new Set([caller]));
    jest.advanceTimersByTime(900);
    expect(requests.givenUp).toEqual([[id, 'timeout']]);
  });
});

function flying(clients: readonly number[]) {
  const requests = new Requests();
  const people = [0, 1, 2].map((n) => new FakeClient(String(n)));
  const callers = clients.map((n) => people[n]?.call());
  const opened = callers.map((caller) => requests.open(caller));
  return { requests, callers, opened };
}

describe('the origin of a message', () => {
  /** The client behind each request in flight; -1 is the gateway itself. */
  const clientsInFlight = fc.array(fc.integer({ min: -1, max: 2 }), { maxLength: 6 });

  it('without a stream is every call of the one client that calls, or nobody can tell', () => {
    fc.assert(
      fc.property(clientsInFlight, (clients) => {
        const { requests, callers } = flying(clients);
        const distinct = new Set(clients.filter((n) => n >= 0));
        const { callers: found, ambiguous } = requests.pending.origin(undefined);
        expect(ambiguous).toBe(distinct.size > 1);
        expect(found).toEqual(distinct.size > 1 ? [] : callers.filter((caller) => caller !== undefined));
        requests.pending.removeAll();
      }),
    );
  });

  it('is in doubt as long again as its timeout after a call was given up, and no longer', () => {
    const requests = new Requests();
    const [given, other] = [new FakeClient('a').call(), new FakeClient('b').call()];
    const pending = requests.open(given);
    requests.pending.remove(pending);
    requests.pending.abandon(pending);
    requests.open(other, 5000);
    jest.advanceTimersByTime(999);
    expect(requests.pending.origin(undefined)).toEqual({ callers: [], ambiguous: true });
    jest.advanceTimersByTime(1);
    expect(requests.pending.origin(undefined)).toEqual({ callers: [other], ambiguous: false });
  });

  it('on the stream of a request is that request, whatever else is in flight', () => {
    fc.assert(
      fc.property(clientsInFlight, fc.nat(5), (clients, index) => {
        const { requests, callers, opened } = flying(clients);
        const pending = opened[index];
        const origin = requests.pending.origin(pending?.id ?? 'over');
        expect(origin.ambiguous).toBe(pending === undefined);
        expect(origin.callers).toEqual(callers[index] ? [callers[index]] : []);
        requests.pending.removeAll();
      }),
    );
  });
});
