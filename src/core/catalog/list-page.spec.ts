import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { plain } from '../../../test/kit/offers.js';
import { countSteps, runSteps } from '../../../test/kit/run-steps.js';
import {
  buildPage,
  ListPage,
  MAX_PAGE_LENGTH,
  PageCache,
  type PageItem,
  type SignCursor,
} from './list-page.js';

const built = (items: Iterable<PageItem>, size = 10, signCursor: SignCursor = plain, after = ''): ListPage =>
  runSteps(buildPage({ member: 'tools', after, size, signCursor }, items));

describe('buildPage', () => {
  const items = [
    { key: 'a', text: '{"n":1.0}' },
    { key: 'b"\n', text: '{ }' },
  ];

  it('writes the items as they are, under the member of the list', () => {
    expect(built(items).text).toBe('{"tools":[{"n":1.0},{ }]}');
    expect(built([]).text).toBe('{"tools":[]}');
    expect(built(items).bytes.toString()).toBe(built(items).text);
  });

  it('adds a cursor of the last key when more items follow', () => {
    const page = built([...items, { key: 'c', text: '{}' }], 2, (key) => `<${key}>`);
    expect(page.text).toBe('{"tools":[{"n":1.0},{ }],"nextCursor":"<b\\"\\n>"}');
    expect(page).toMatchObject({ size: 2, isFirst: true, hasMore: true });
  });

  it('adds no cursor when the page ends with the list', () => {
    expect(built(items, 2, plain, 'A')).toMatchObject({ size: 2, isFirst: false, hasMore: false });
  });

  it('ends before the item that exceeds the maximum length, and has at least one', () => {
    const half = { key: 'half', text: 'x'.repeat(MAX_PAGE_LENGTH / 2) };
    const more = { key: 'more', text: 'x'.repeat(MAX_PAGE_LENGTH / 2 + 1) };
    const sizes = [
      [half, half],
      [half, half, half],
      [half, more],
      [{ key: 'long', text: half.text.repeat(3) }, half],
    ];
    expect(sizes.map((list) => built(list)).map(({ size, hasMore }) => [size, hasMore])).toEqual([
      [2, false],
      [2, true],
      [1, true],
      [1, true],
    ]);
  });

  it('yields every few items', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => ({ key: String(index), text: '{}' }));
    const steps = countSteps(
      buildPage({ member: 'tools', after: '', size: 10_000, signCursor: plain }, many),
    );
    expect(steps).toBeGreaterThan(500);
  });

  it('reads one item beyond the page', () => {
    let read = 0;
    const endless = (function* (): Iterable<PageItem> {
      for (;;) yield { key: String(++read), text: '{}' };
    })();
    built(endless, 5);
    expect(read).toBe(6);
  });
});

/** Any object identifies a list. */
const LIST = {};

const pageWith = (text: string): ListPage => new ListPage(text, Buffer.from(text), 1, true, false);

/** A page takes its text and its encoded text. */
const page = (size: number): ListPage => pageWith('x'.repeat(size));

const get = async (
  cache: PageCache,
  key: string,
  build: () => ListPage,
  list: object = LIST,
): Promise<ListPage> => cache.get(list, key, async () => Promise.resolve(build()));

/** Whether the cache has the page. Does not add it. */
async function holds(cache: PageCache, key: string): Promise<boolean> {
  const missing = new Error('not cached');
  const found: unknown = await get(cache, key, () => {
    throw missing;
  }).catch((error: unknown) => error);
  return found !== missing;
}

describe('PageCache', () => {
  it('builds a page once', async () => {
    const cache = new PageCache();
    let builds = 0;
    const build = (): ListPage => page(++builds);
    expect(await get(cache, 'a', build)).toBe(await get(cache, 'a', build));
    expect(await get(cache, 'b', build)).not.toBe(await get(cache, 'a', build));
    expect(builds).toBe(2);
  });

  it('shares the build of a page between requests at the same time', async () => {
    const cache = new PageCache();
    let builds = 0;
    const build = (): ListPage => page(++builds);
    const [one, other] = await Promise.all([get(cache, 'a', build), get(cache, 'a', build)]);
    expect(one).toBe(other);
    expect(builds).toBe(1);
  });

  it('builds a page again after a build that failed', async () => {
    const cache = new PageCache();
    expect(await holds(cache, 'a')).toBe(false);
    expect((await get(cache, 'a', () => page(3))).text).toBe('xxx');
  });

  it('evicts the oldest pages when they exceed the limit', async () => {
    const cache = new PageCache(57);
    const builds: string[] = [];
    const request = (key: string): Promise<ListPage> =>
      get(cache, key, () => {
        builds.push(key);
        return page(9);
      });
    for (const key of ['a', 'b', 'c', 'c', 'b', 'a']) await request(key);
    expect(builds).toEqual(['a', 'b', 'c']);
    for (const key of ['d', 'b', 'a']) await request(key);
    expect(builds).toEqual(['a', 'b', 'c', 'd', 'a']);
  });

  it('counts the encoded page, and two bytes for each character of a text that is not ASCII', async () => {
    const evicted: string[] = [];
    const cache = new PageCache(10, () => evicted.push('page'));
    await get(cache, 'a', () => pageWith('xx'));
    // Four bytes encoded, four as text, one for the key.
    await get(cache, 'b', () => pageWith('éé'));
    expect(evicted).toHaveLength(1);
    expect([await holds(cache, 'a'), await holds(cache, 'b')]).toEqual([false, true]);
  });

  it('has at most 64 MB of pages', async () => {
    const evicted: string[] = [];
    const cache = new PageCache(undefined, () => evicted.push('page'));
    await get(cache, 'a', () => page(16 * 1024 * 1024));
    await get(cache, 'b', () => page(16 * 1024 * 1024 - 2));
    expect(evicted).toEqual([]);
    await get(cache, 'c', () => page(1));
    expect(evicted).toEqual(['page']);
  });

  it('limits the pages of all lists together, and has pages of each list', async () => {
    const cache = new PageCache(20);
    const [one, other] = [{}, {}];
    const first = await get(cache, 'k', () => page(4), one);
    const second = await get(cache, 'k', () => page(4), other);
    expect(second).not.toBe(first);
    expect(await get(cache, 'k', () => page(1), one)).toBe(first);
    await get(cache, 'l', () => page(4), other);
    expect(await get(cache, 'k', () => page(1), other)).toBe(second);
    expect(await get(cache, 'k', () => page(4), one)).not.toBe(first);
  });

  it('keeps a page beyond the limit until the next page is built', async () => {
    const cache = new PageCache(10);
    const large = await get(cache, 'large', () => page(100));
    expect(await get(cache, 'large', () => page(1))).toBe(large);
    const small = await get(cache, 'small', () => page(1));
    expect(await get(cache, 'small', () => page(1))).toBe(small);
    expect(await get(cache, 'large', () => page(100))).not.toBe(large);
  });

  it('never exceeds the limit, keys included, except by the latest page', async () => {
    const limit = 50;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.string({ maxLength: 3 }), fc.nat(40))), async (requests) => {
        const cache = new PageCache(limit);
        const sizes = new Map<string, number>();
        for (const [key, size] of requests) {
          const { text } = await get(cache, key, () => page(size));
          sizes.set(key, key.length + 2 * text.length);
        }
        const held: number[] = [];
        for (const [key, size] of sizes) if (await holds(cache, key)) held.push(size);
        const total = held.reduce((sum, size) => sum + size, 0);
        expect(total <= limit || held.length === 1).toBe(true);
        expect(requests.length === 0 || (await holds(cache, requests.at(-1)![0]))).toBe(true);
      }),
    );
  });
});
