import { describe, expect, it } from '@jest/globals';
import { matching, search } from './search.js';
import { SearchIndex } from './search-index.js';

interface Item {
  readonly key: number;
  readonly name: string;
}

const SCHEMA = [{ name: 'name', boost: 4, usualLength: 3 }];
const COUNT = 9_000;
const byKey = (a: Item, b: Item): number => a.key - b.key;
/** Not in the order of their keys. */
const items = Array.from({ length: COUNT }, (_, i): Item => {
  const key = (i * 7919) % COUNT;
  return { key, name: `log ${key % 100} of server${key}` };
});

function fullIndex(): SearchIndex<Item> {
  const index = new SearchIndex(SCHEMA, byKey);
  for (const item of items) index.add(item, { name: item.name });
  return index;
}

const keysOf = (index: SearchIndex<Item>, query: string, limit: number): number[] =>
  search([index], query, { limit }).map(({ key }) => key);

describe('SearchIndex', () => {
  it('finds documents across several segments', () => {
    const index = fullIndex();
    expect(index.segments.length).toBeGreaterThan(2);
    expect(index.size).toBe(COUNT);
    expect(keysOf(index, 'log', 5)).toEqual([0, 1, 2, 3, 4]);
    expect(keysOf(index, 'log 42', 3)).toEqual([42, 142, 242]);
    expect(keysOf(index, 'server777', 1)).toEqual([777]);
    expect([...matching([index], 'server777')]).toHaveLength(11);
  });

  it.each([
    ['two of three', (key: number) => key % 3 > 0],
    ['nearly all', (key: number) => key % 1000 > 0],
    ['all', () => true],
  ])('after removal of %s ranks like an index that never had them', (_which, isRemoved) => {
    const index = fullIndex();
    for (const item of items) if (isRemoved(item.key)) index.remove(item);
    const left = items.filter(({ key }) => !isRemoved(key));
    const fresh = new SearchIndex(SCHEMA, byKey);
    for (const item of left) fresh.add(item, { name: item.name });

    expect(index.size).toBe(left.length);
    for (const query of ['log', 'l', 'log 42', 'server7', 'of servre', 'server1 9'])
      expect(keysOf(index, query, 50)).toEqual(keysOf(fresh, query, 50));
    expect(new Set(matching([index], ''))).toEqual(new Set(left));
    expect(index.segments.length).toBeLessThanOrEqual(4 * (left.length / 4096) + 2);
  });

  it('accepts removed documents again', () => {
    const index = fullIndex();
    for (const item of items) {
      index.remove(item);
      index.add(item, { name: item.name });
    }
    expect(index.size).toBe(COUNT);
    expect(index.segments.length).toBeLessThanOrEqual(10);
    expect(keysOf(index, 'log', 5)).toEqual([0, 1, 2, 3, 4]);
  });

  it('ignores the removal of an absent item', () => {
    const index = new SearchIndex(SCHEMA, byKey);
    index.remove(items[0]!);
    expect(index.size).toBe(0);
    index.add(items[0]!, { name: items[0]!.name });
    index.remove(items[0]!);
    index.remove(items[0]!);
    expect(index.size).toBe(0);
    expect([...matching([index], '')]).toEqual([]);
  });
});
