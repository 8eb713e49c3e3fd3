import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { runAtOnce, type Steps } from '../slices/run-sliced.js';
import { elementsOf, membersOf } from './json-text.js';
import { elementSteps, memberSteps, namedMemberSteps } from './sliced-text.js';

/** Values in the order of the text; some are longer than one step. */
const values = fc.array(
  fc.oneof(
    fc.jsonValue(),
    fc.constant('"\\['.repeat(60_000)),
    fc.constant(Array.from({ length: 50_000 }, (_, n) => [n, '"'])),
  ),
  { maxLength: 4 },
);

function countSteps(steps: Steps<unknown>): number {
  let count = 0;
  while (!steps.next().done) count++;
  return count;
}

describe('memberSteps', () => {
  it('returns what membersOf returns', () => {
    fc.assert(
      fc.property(values, fc.nat(1), (list, indent) => {
        const text = JSON.stringify(Object.fromEntries([...list.entries(), ['é"', 1]]), undefined, indent);
        expect(runAtOnce(memberSteps(text))).toEqual(membersOf(text));
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    ['one long value', { a: Array.from({ length: 200_000 }, (_, n) => n) }],
    ['many members', Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`key ${n}`, n]))],
  ])('yields within %s', (_what, value) => {
    expect(countSteps(memberSteps(JSON.stringify(value)))).toBeGreaterThan(3);
  });
});

describe('namedMemberSteps', () => {
  it('returns the members of membersOf with these keys', () => {
    fc.assert(
      fc.property(values, fc.nat(1), fc.string(), (list, indent, prefix) => {
        const entries = [...list.entries(), ['é"', 1], ['a', list]] as const;
        const text = prefix + JSON.stringify(Object.fromEntries(entries), undefined, indent);
        const keys = ['a', '1', 'é"'];
        expect(runAtOnce(namedMemberSteps(text, keys, prefix.length))).toEqual(
          membersOf(text, prefix.length).filter(({ key }) => keys.includes(key)),
        );
      }),
      { numRuns: 50 },
    );
  });

  it('finds a key with escapes, and repeated keys', () => {
    const found = runAtOnce(namedMemberSteps('{"\\u0061":1,"b":2,"a":3}', ['a']));
    expect(found.map(({ key, start }) => [key, start])).toEqual([
      ['a', 10],
      ['a', 22],
    ]);
  });

  it.each([
    ['one long value', { a: Array.from({ length: 200_000 }, (_, n) => n) }],
    ['many members', Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`key ${n}`, n]))],
  ])('yields within %s', (_what, value) => {
    expect(countSteps(namedMemberSteps(JSON.stringify(value), ['x']))).toBeGreaterThan(3);
  });
});

describe('elementSteps', () => {
  it('returns the elements that elementsOf returns', () => {
    fc.assert(
      fc.property(values, fc.nat(1), fc.string(), (list, indent, prefix) => {
        const text = prefix + JSON.stringify(list, undefined, indent);
        const elements = [...elementSteps(text, prefix.length)].filter((element) => element !== undefined);
        expect(elements).toEqual([...elementsOf(text, prefix.length)]);
      }),
      { numRuns: 50 },
    );
  });

  it('yields within a long element', () => {
    const text = JSON.stringify([Array.from({ length: 200_000 }, (_, n) => n)]);
    expect([...elementSteps(text)].filter((element) => element === undefined).length).toBeGreaterThan(3);
  });
});
