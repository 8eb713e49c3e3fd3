import { describe, expect, it } from '@jest/globals';
import { IgnoredLines } from './ignored-lines.js';

describe('IgnoredLines', () => {
  it('reports the first three lines and then one every ten seconds, and counts all', () => {
    let now = 0;
    const ignored = new IgnoredLines(() => now);
    const add = () => ignored.add('is not JSON', 5)?.message;

    expect(add()).toBe('line of 5 bytes is not JSON, ignored (1 so far)');
    expect([add(), add()].every(Boolean)).toBe(true);
    expect([add(), add()]).toEqual([undefined, undefined]);
    now = 9_999;
    expect(add()).toBeUndefined();
    now = 10_000;
    expect(add()).toBe('line of 5 bytes is not JSON, ignored (7 so far)');
    expect(add()).toBeUndefined();
    expect(ignored.count).toBe(8);
  });
});
