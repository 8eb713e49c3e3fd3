import { describe, expect, it } from '@jest/globals';
import { RateWindow } from './rate-window.js';

describe('RateWindow', () => {
  it('allows so many events in a second, and returns how many were refused before', () => {
    const window = new RateWindow(2);
    const taken = [0, 1, 2, 999, 1000, 1001, 1999, 5000].map((now) => window.take(now));
    expect(taken).toEqual([0, 0, undefined, undefined, 2, 0, undefined, 1]);
  });
});
