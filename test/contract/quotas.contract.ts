import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { QuotaCounter, Quotas } from '../../src/state/quotas.js';

const counter = (key: string, limit = Infinity): QuotaCounter => ({ key, limit });

/** The contract of Quotas. `open` returns quotas without claims. */
export const quotasContract = (adapter: string, open: () => Quotas): void => {
  describe(`${adapter} as Quotas`, () => {
    it('counts nothing at first', () => {
      expect(open().count('sessions')).toBe(0);
    });

    it('adds one to every counter of a claim', () => {
      const quotas = open();
      expect(quotas.claim([counter('a', 2), counter('b', 1)])).toBeUndefined();
      expect(quotas.claim([counter('a', 2)])).toBeUndefined();
      expect([quotas.count('a'), quotas.count('b'), quotas.count('c')]).toEqual([2, 1, 0]);
    });

    it('adds to no counter when one is at its limit, and returns the first of these', () => {
      const quotas = open();
      const [a, b, c] = [counter('a', 9), counter('b', 1), counter('c', 0)];
      quotas.claim([a, b]);
      expect(quotas.claim([a, b, c])).toEqual(b);
      expect(quotas.claim([c, b, a])).toEqual(c);
      expect([quotas.count('a'), quotas.count('b'), quotas.count('c')]).toEqual([1, 1, 0]);
    });

    it('grants a claim as soon as another one is released', () => {
      const quotas = open();
      const last = [counter('a', 1), counter('b', 5)];
      quotas.claim(last);
      expect(quotas.claim(last)).toEqual(last[0]);
      quotas.release(last);
      expect(quotas.claim(last)).toBeUndefined();
      expect(quotas.count('b')).toBe(1);
    });

    it('compares the count with the limit of the claim, not of earlier claims', () => {
      const quotas = open();
      for (let n = 0; n < 3; n++) quotas.claim([counter('a')]);
      expect(quotas.claim([counter('a', 3)])).toEqual(counter('a', 3));
      expect(quotas.claim([counter('a', 4)])).toBeUndefined();
    });

    it('never counts below zero', () => {
      const quotas = open();
      quotas.release([counter('a')]);
      expect(quotas.count('a')).toBe(0);
      quotas.claim([counter('a')]);
      expect(quotas.count('a')).toBe(1);
    });

    it('separates counters with unusual keys', () => {
      const quotas = open();
      for (const key of ['__proto__', 'constructor', '']) quotas.claim([counter(key)]);
      expect(['__proto__', 'constructor', '', 'toString'].map((key) => quotas.count(key))).toEqual([
        1, 1, 1, 0,
      ]);
    });

    it('counts the claims that are not released, in any order of claims and releases', () => {
      const keys = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 });
      const steps = fc.array(fc.record({ keys, limit: fc.integer({ min: 0, max: 4 }), release: fc.nat() }));
      fc.assert(
        fc.property(steps, (sequence) => {
          const quotas = open();
          const granted: (readonly QuotaCounter[])[] = [];
          const countOf = (key: string): number =>
            granted.filter((counters) => counters.some((one) => one.key === key)).length;
          for (const step of sequence) {
            const counters = step.keys.map((key) => counter(key, step.limit));
            const reached = counters.find(({ key, limit }) => countOf(key) >= limit);
            expect(quotas.claim(counters)).toEqual(reached);
            if (!reached) granted.push(counters);
            if (step.release % 3 === 0)
              for (const released of granted.splice(step.release % (granted.length + 1), 1))
                quotas.release(released);
            expect(['a', 'b', 'c'].map((key) => quotas.count(key))).toEqual(['a', 'b', 'c'].map(countOf));
          }
          for (const counters of granted) quotas.release(counters);
          expect(['a', 'b', 'c'].map((key) => quotas.count(key))).toEqual([0, 0, 0]);
        }),
      );
    });
  });
};
