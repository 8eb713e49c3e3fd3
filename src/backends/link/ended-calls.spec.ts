import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { advanceTime, useFakeTime } from '../../../test/kit/fake-time.js';
import { EndedCalls, ORIGIN_GRACE_MS } from './ended-calls.js';

/** The first letter of a client is its principal. */
const CLIENTS = ['a1', 'a2', 'b1', 'c1'];
const principalOf = (client: string): string => client[0]!;

useFakeTime();

describe('EndedCalls', () => {
  /** How many milliseconds ago each call ended, in the order in which the calls are added. */
  const ends = fc.array(
    fc.record({
      client: fc.constantFrom(...CLIENTS),
      agoMs: fc.constantFrom(0, 1, ORIGIN_GRACE_MS - 1, ORIGIN_GRACE_MS, 5000),
    }),
    { maxLength: 6 },
  );

  it('finds the ended calls of other clients and principals in any order of their ends', () => {
    fc.assert(
      fc.property(ends, (added) => {
        const ended = new EndedCalls();
        for (const { client, agoMs } of added)
          ended.add(client, principalOf(client), performance.now() - agoMs);
        const recent = added.filter(({ agoMs }) => agoMs < ORIGIN_GRACE_MS);
        for (const client of [...CLIENTS, undefined])
          expect(ended.hasOtherClientThan(client)).toBe(recent.some((call) => call.client !== client));
        for (const principal of CLIENTS.map(principalOf))
          expect(ended.hasOtherPrincipalThan(principal)).toBe(
            recent.some((call) => principalOf(call.client) !== principal),
          );
      }),
    );
  });

  it('renews calls that ended within a second before the messages, and no others', async () => {
    const ended = new EndedCalls();
    const start = performance.now();
    ended.add('a1', 'a', start);
    ended.add('b1', 'b', start + 1);
    await advanceTime(60_000);
    ended.renew(start + ORIGIN_GRACE_MS);
    expect(['a1', 'b1', 'c1'].map((client) => ended.hasOtherClientThan(client))).toEqual([true, false, true]);
    expect(['a', 'b', 'c'].map((name) => ended.hasOtherPrincipalThan(name))).toEqual([true, false, true]);
  });
});
