import { describe, expect, it, jest } from '@jest/globals';
import { TextCache } from './text-cache.js';

const upperCase = (text: string): string => text.toUpperCase();

describe('TextCache', () => {
  it('computes the result of a text once', () => {
    const compute = jest.fn(upperCase);
    const cache = new TextCache(compute, { texts: 2, length: 10 });
    expect(['a', 'b', 'a', 'b'].map((text) => cache.get(text))).toEqual(['A', 'B', 'A', 'B']);
    expect(compute).toHaveBeenCalledTimes(2);
  });

  it('stores no text that is too long', () => {
    const cache = new TextCache(upperCase, { texts: 2, length: 3 });
    expect(cache.get('abcd')).toBe('ABCD');
    expect(cache.size).toBe(0);
    cache.get('abc');
    expect(cache.size).toBe(1);
  });

  it('stores no text that its limits exclude', () => {
    const cache = new TextCache(upperCase, { texts: 2, length: 3, stores: (text) => text !== 'b' });
    expect(['a', 'b', 'b'].map((text) => cache.get(text))).toEqual(['A', 'B', 'B']);
    expect(cache.size).toBe(1);
  });

  it('stores no more texts than its limit', () => {
    const cache = new TextCache(upperCase, { texts: 3, length: 10 });
    for (let n = 0; n < 100; n++) {
      expect(cache.get(`text ${n}`)).toBe(`TEXT ${n}`);
      expect(cache.size).toBeLessThanOrEqual(3);
    }
  });
});
