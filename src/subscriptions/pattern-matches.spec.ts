import { describe, expect, it } from '@jest/globals';
import { ResourceList } from '../core/resources/resource-list.js';
import { patternOf } from '../core/resources/resource-pattern.js';
import { findMatches, type PatternMatches } from './pattern-matches.js';

const listOf = (count: number): Promise<ResourceList> =>
  ResourceList.build(
    'files',
    Array.from({ length: count }, (_, n) => ({ name: `x://${String(n).padStart(5, '0')}`, text: '{}' })),
    () => undefined,
  );
const find = (list: ResourceList, text: string): Promise<PatternMatches> =>
  findMatches(list, patternOf(text)!, () => undefined);

describe('findMatches', () => {
  it('finds the resources that match a pattern, in the order of the list', async () => {
    const list = await listOf(30);
    expect(await find(list, 'x://0001*')).toEqual({
      uris: Array.from({ length: 10 }, (_, n) => `x://0001${n}`),
      isTruncated: false,
    });
    expect(await find(list, 'y://*')).toEqual({ uris: [], isTruncated: false });
  });

  it.each([
    [1000, false],
    [1001, true],
  ])('finds at most 1000 resources of %d', async (count, isTruncated) => {
    const found = await find(await listOf(count), '*');
    expect([found.uris.length, found.isTruncated]).toEqual([1000, isTruncated]);
  });

  it('yields to the event loop after each 256 resources', async () => {
    let yields = 0;
    const found = await findMatches(await listOf(5000), patternOf('x://{n}9')!, () => {
      yields++;
      return undefined;
    });
    expect(found.uris).toHaveLength(500);
    expect(yields).toBe(Math.floor(5000 / 256));
    expect(await find(await listOf(5000), 'x://{n}9')).toEqual(found);
  });

  it('scans a list once per pattern, up to 100 patterns', async () => {
    const list = await listOf(10);
    const first = await find(list, '*');
    expect(await find(list, '*')).toBe(first);
    for (let n = 0; n < 100; n++) await find(list, `${n}*`);
    expect(await find(list, '*')).not.toBe(first);
    expect(await find(list, '*')).toEqual(first);
  });
});
