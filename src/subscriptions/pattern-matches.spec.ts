import { describe, expect, it } from '@jest/globals';
import { ResourceList } from '../core/resources/resource-list.js';
import { patternOf } from '../core/resources/resource-pattern.js';
import { findMatches, matchesIn } from './pattern-matches.js';

const listOf = (count: number): Promise<ResourceList> =>
  ResourceList.build(
    'files',
    Array.from({ length: count }, (_, n) => ({ name: `x://${String(n).padStart(5, '0')}`, text: '{}' })),
    () => undefined,
  );
const pattern = (text: string): NonNullable<ReturnType<typeof patternOf>> => patternOf(text)!;

describe('what a pattern watches of a list', () => {
  it('is what fits, in the order of the list', async () => {
    const list = await listOf(30);
    expect(matchesIn(list, pattern('x://0001*'))).toEqual({
      uris: Array.from({ length: 10 }, (_, n) => `x://0001${n}`),
      isCut: false,
    });
    expect(matchesIn(list, pattern('y://*'))).toEqual({ uris: [], isCut: false });
  });

  it.each([
    [1000, false],
    [1001, true],
  ])('is no more than a thousand: of %d', async (count, isCut) => {
    const found = matchesIn(await listOf(count), pattern('*'));
    expect([found.uris.length, found.isCut]).toEqual([1000, isCut]);
  });

  it('is found giving way, and the same whichever way it is found', async () => {
    const list = await listOf(5000);
    let pauses = 0;
    const found = await findMatches(list, pattern('x://{n}9'), () => {
      pauses++;
      return undefined;
    });
    expect(found.uris).toHaveLength(500);
    expect(pauses).toBe(Math.floor(5000 / 256));
    expect(matchesIn(await listOf(5000), pattern('x://{n}9'))).toEqual(found);
  });

  it('is found once for each list, as long as there are not too many patterns', async () => {
    const list = await listOf(10);
    const first = matchesIn(list, pattern('*'));
    expect(matchesIn(list, pattern('*'))).toBe(first);
    expect(await findMatches(list, pattern('*'), () => undefined)).toBe(first);
    for (let n = 0; n < 100; n++) matchesIn(list, pattern(`${n}*`));
    expect(matchesIn(list, pattern('*'))).not.toBe(first);
    expect(matchesIn(list, pattern('*'))).toEqual(first);
  });
});
