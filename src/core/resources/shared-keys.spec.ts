import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { listOf, neverYield, uris } from '../../../test/kit/resource-offers.js';
import type { ResourceList } from './resource-list.js';
import { compareSlowly, isQuickToCompare, sharedKeys, type Key } from './shared-keys.js';

/** All pairs, one by one. */
function naively(a: ResourceList, b: ResourceList, key: Key): string[] {
  return a.byUri
    .map((resource) => resource[key])
    .filter((value) => b.byUri.some((other) => other[key] === value))
    .toSorted();
}

const lists = fc.tuple(fc.array(uris), fc.array(uris));
const numbers = fc.uniqueArray(fc.nat(300), { maxLength: 200 }).map((all) => all.map((n) => `x:${n}`));
const longLists = fc.tuple(numbers, numbers);

const KEYS: readonly Key[] = ['uri', 'id'];

describe('sharedKeys', () => {
  it.each(KEYS)('are those that both lists have, by %s', (key) =>
    fc.assert(
      fc.asyncProperty(fc.oneof(lists, longLists), async ([one, other]) => {
        const a = await listOf('a', ...one);
        const b = await listOf(key === 'id' ? 'a' : 'b', ...other);
        expect([...sharedKeys(a, b, key)].toSorted()).toEqual(naively(a, b, key));
      }),
    ),
  );

  it('are the same whichever list comes first, and found once', async () => {
    const [a, b] = [await listOf('a', 'x:1', 'x:2'), await listOf('b', 'x:2', 'x:3')];
    const shared = sharedKeys(a, b, 'uri');
    expect([...shared]).toEqual(['x:2']);
    expect(sharedKeys(b, a, 'uri')).toBe(shared);
    expect(sharedKeys(a, b, 'uri')).toBe(shared);
    expect([...sharedKeys(a, b, 'id')]).toEqual([]);
  });
});

describe('compareSlowly', () => {
  const many = Array.from({ length: 3000 }, (_, n) => `x:${n}`);
  const odd = Array.from({ length: 3000 }, (_, n) => `x:${2 * n + 1}`);

  it('finds the same, and giving way in between', async () => {
    const [a, b] = [await listOf('a', ...many), await listOf('b', ...odd)];
    let pauses = 0;
    const yieldIfDue = async (): Promise<void> => {
      pauses++;
      await new Promise((resolve) => setImmediate(resolve));
    };
    expect(isQuickToCompare(a, b, 'uri')).toBe(false);
    await compareSlowly(a, b, 'uri', yieldIfDue);
    expect(isQuickToCompare(b, a, 'uri')).toBe(true);
    expect(isQuickToCompare(a, b, 'id')).toBe(false);
    expect([...sharedKeys(a, b, 'uri')].toSorted()).toEqual(odd.slice(0, 1500).toSorted());
    expect(pauses).toBeGreaterThan(3);
  });

  it('is not needed for few, nor for what was compared already', async () => {
    const [few, more] = [await listOf('a', 'x:1'), await listOf('b', ...many)];
    expect(isQuickToCompare(few, more, 'uri')).toBe(true);
    const large = await listOf('c', ...many);
    sharedKeys(more, large, 'uri');
    expect(isQuickToCompare(more, large, 'uri')).toBe(true);
    await compareSlowly(few, more, 'uri', neverYield);
    expect([...sharedKeys(few, more, 'uri')]).toEqual(['x:1']);
  });
});
