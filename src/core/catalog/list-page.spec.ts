import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { plain } from '../../../test/kit/offers.js';
import { SharedJson } from '../../lib/json-text/json-text.js';
import { PageCache, pageText } from './list-page.js';

describe('pageText', () => {
  const items = [
    { key: 'a', text: '{"n":1.0}' },
    { key: 'b"\n', text: '{ }' },
  ];

  it('writes the items as they are, under the member of the list', () => {
    expect(pageText('tools', items, false, plain).text).toBe('{"tools":[{"n":1.0},{ }]}');
    expect(pageText('tools', [], false, plain).text).toBe('{"tools":[]}');
  });

  it('adds a cursor of the last key when more items follow', () => {
    expect(pageText('tools', items, true, (key) => `<${key}>`).text).toBe(
      '{"tools":[{"n":1.0},{ }],"nextCursor":"<b\\"\\n>"}',
    );
  });

  it('adds no cursor when no item can follow', () => {
    expect(pageText('tools', [], true, plain).text).toBe('{"tools":[]}');
  });
});

/** Any object identifies a list. */
const LIST = {};

/** A page takes its text and its encoded text. */
const page = (size: number): SharedJson => new SharedJson('x'.repeat(size));

describe('PageCache', () => {
  it('builds a page once', () => {
    const cache = new PageCache();
    let built = 0;
    const build = (): SharedJson => page(++built);
    expect(cache.get(LIST, 'a', build)).toBe(cache.get(LIST, 'a', build));
    expect(cache.get(LIST, 'b', build)).not.toBe(cache.get(LIST, 'a', build));
    expect(built).toBe(2);
  });

  it('evicts the oldest pages when they exceed the limit', () => {
    const cache = new PageCache(57);
    const builds: string[] = [];
    const get = (key: string, size: number): SharedJson =>
      cache.get(LIST, key, () => {
        builds.push(key);
        return page(size);
      });
    for (const key of ['a', 'b', 'c']) get(key, 9);
    for (const key of ['c', 'b', 'a']) get(key, 9);
    expect(builds).toEqual(['a', 'b', 'c']);
    get('d', 9);
    get('b', 9);
    get('a', 9);
    expect(builds).toEqual(['a', 'b', 'c', 'd', 'a']);
  });

  it('counts the encoded page, and two bytes for each character of a text that is not ASCII', () => {
    const evicted: string[] = [];
    const cache = new PageCache(10, () => evicted.push('page'));
    cache.get(LIST, 'a', () => new SharedJson('xx'));
    // Four bytes encoded, four as text, one for the key.
    cache.get(LIST, 'b', () => new SharedJson('éé'));
    expect(evicted).toHaveLength(1);
    expect([holds(cache, 'a'), holds(cache, 'b')]).toEqual([false, true]);
  });

  it('has at most 64 MB of pages', () => {
    const evicted: string[] = [];
    const cache = new PageCache(undefined, () => evicted.push('page'));
    cache.get(LIST, 'a', () => page(16 * 1024 * 1024));
    cache.get(LIST, 'b', () => page(16 * 1024 * 1024 - 2));
    expect(evicted).toEqual([]);
    cache.get(LIST, 'c', () => page(1));
    expect(evicted).toEqual(['page']);
  });

  it('limits the pages of all lists together, and has pages of each list', () => {
    const cache = new PageCache(20);
    const [one, other] = [{}, {}];
    const first = cache.get(one, 'k', () => page(4));
    const second = cache.get(other, 'k', () => page(4));
    expect(second).not.toBe(first);
    expect(cache.get(one, 'k', () => page(1))).toBe(first);
    cache.get(other, 'l', () => page(4));
    expect(cache.get(other, 'k', () => page(1))).toBe(second);
    expect(cache.get(one, 'k', () => page(4))).not.toBe(first);
  });

  it('keeps a page beyond the limit until the next page is built', () => {
    const cache = new PageCache(10);
    const large = cache.get(LIST, 'large', () => page(100));
    expect(cache.get(LIST, 'large', () => page(1))).toBe(large);
    const small = cache.get(LIST, 'small', () => page(1));
    expect(cache.get(LIST, 'small', () => page(1))).toBe(small);
    expect(cache.get(LIST, 'large', () => page(100))).not.toBe(large);
  });

  it('never exceeds the limit, keys included, except by the latest page', () => {
    const limit = 50;
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ maxLength: 3 }), fc.nat(40))), (requests) => {
        const cache = new PageCache(limit);
        const sizes = new Map<string, number>();
        for (const [key, size] of requests) {
          const { text } = cache.get(LIST, key, () => page(size));
          sizes.set(key, key.length + 2 * text.length);
        }
        const held = [...sizes].filter(([key]) => holds(cache, key)).map(([, size]) => size);
        const total = held.reduce((sum, size) => sum + size, 0);
        expect(total <= limit || held.length === 1).toBe(true);
        expect(requests.length === 0 || holds(cache, requests.at(-1)![0])).toBe(true);
      }),
    );
  });
});

/** Whether the cache has the page. Does not add it. */
function holds(cache: PageCache, key: string): boolean {
  const missing = new Error('not cached');
  try {
    cache.get(LIST, key, () => {
      throw missing;
    });
    return true;
  } catch (error) {
    if (error !== missing) throw error;
    return false;
  }
}
