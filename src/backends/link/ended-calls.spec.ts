import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { advanceTime, useFakeTime } from '../../../test/kit/fake-time.js';
import { EndedCalls, ORIGIN_GRACE_MS } from './ended-calls.js';

const CLIENTS = ['a', 'b', 'c'];

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

  it('finds the ended calls of other clients in any order of their ends', () => {
    fc.assert(
      fc.property(ends, (added) => {
        const ended = new EndedCalls();
        for (const { client, agoMs } of added) ended.add(client, performance.now() - agoMs);
        for (const client of [...CLIENTS, undefined])
          expect(ended.hasOtherThan(client)).toBe(
            added.some((call) => call.client !== client && call.agoMs < ORIGIN_GRACE_MS),
          );
      }),
    );
  });

  it('renews calls that ended within a second before the messages, and no others', async () => {
    const ended = new EndedCalls();
    const start = performance.now();
    ended.add('a', start);
    ended.add('b', start + 1);
    await advanceTime(60_000);
    ended.renew(start + ORIGIN_GRACE_MS);
    expect(['a', 'b', 'c'].map((client) => ended.hasOtherThan(client))).toEqual([true, false, true]);
  });
});
