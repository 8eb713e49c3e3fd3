import { describe, expect, it } from '@jest/globals';
import { Kinds } from './kinds.js';

describe('kinds', () => {
  it('have numbers of their own, and no kind has 0', () => {
    const kinds = new Kinds();
    expect(['a', 'b', 'a', ''].map((name) => kinds.numberOf(name))).toEqual([1, 2, 1, 0]);
    expect([...kinds.passing((name) => name !== 'a')]).toEqual([1, 0, 1]);
  });

  it('are none where there are more than numbers', () => {
    const kinds = new Kinds();
    for (let n = 1; n < 0x10000; n++) kinds.numberOf(`kind ${n}`);
    expect(kinds.numberOf('kind 65535')).toBe(65_535);
    expect(kinds.numberOf('one more')).toBe(0);
    expect(kinds.numberOf('kind 7')).toBe(7);
  });
});
