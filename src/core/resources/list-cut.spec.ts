import { describe, expect, it } from '@jest/globals';
import { listOf, STYLES, neverYield } from '../../../test/kit/resource-offers.js';
import { ConflictingNames } from './conflicting-names.js';
import { cutList, cutSlowly, isQuickToCut } from './list-cut.js';
import { distinctId } from './resource-uri.js';

const many = Array.from({ length: 5000 }, (_, n) => `x:${n}`);
const ids = many.map((uri) => `a_x___${uri.slice(2)}`);
const contestedIn = (from: number, to: number): ConflictingNames =>
  new ConflictingNames([new Set(many.slice(from, to))], [new Set(ids.slice(from, to))]);

const inOrder = (names: readonly string[]): readonly string[] =>
  names.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));

describe('a list that is cut', () => {
  it.each([
    ['original', ({ uri }: { uri: string }) => uri],
    ['underscore', (resource: { server: string; uri: string }) => distinctId(resource)],
  ] as const)('has in both parts the order of what they are called, in style %s', async (style, nameOf) => {
    const list = await listOf('a', ...many, 'ui://x');
    const { kept, renamed, ids: own } = cutList(list, style, contestedIn(1000, 1500));
    expect([kept.length, renamed.length]).toEqual([4500, 500]);
    const names = renamed.map((resource) => nameOf(resource));
    expect(names).toEqual(inOrder(names));
    expect([...own.values()]).toHaveLength(style === 'underscore' ? 500 : 0);
  });

  it('is as it was where nothing is contested, or in the style that has no contests', async () => {
    const list = await listOf('a', 'x:1', 'x:2');
    for (const style of STYLES) expect(cutList(list, style, ConflictingNames.NONE).renamed).toEqual([]);
    expect(cutList(list, 'resource', contestedIn(0, 5)).kept).toBe(list.plain);
  });

  it('may be cut ahead of time, giving way, and then is there at once', async () => {
    for (const style of ['original', 'underscore'] as const) {
      const [list, again] = [await listOf('a', ...many), await listOf('a', ...many)];
      const contested = contestedIn(0, 4000);
      expect(isQuickToCut(list, style, contested)).toBe(false);
      let pauses = 0;
      await cutSlowly(list, style, contested, () => {
        pauses++;
        return undefined;
      });
      expect(pauses).toBeGreaterThan(20);
      expect(isQuickToCut(list, style, contested)).toBe(true);
      expect(isQuickToCut(list, style, contestedIn(0, 3999))).toBe(false);
      const [slow, quick] = [list, again].map((given) => cutList(given, style, contested));
      expect(slow!.renamed.map(({ uri }) => uri)).toEqual(quick!.renamed.map(({ uri }) => uri));
      expect(slow!.kept.map(({ uri }) => uri)).toEqual(quick!.kept.map(({ uri }) => uri));
    }
    expect(isQuickToCut(await listOf('a', ...many), 'original', contestedIn(0, 2000))).toBe(true);
    await cutSlowly(await listOf('a'), 'original', contestedIn(0, 10), neverYield);
  });
});
