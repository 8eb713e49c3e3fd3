import { describe, expect, it } from '@jest/globals';
import { IgnoredLines } from './ignored-lines.js';

describe('JunkLines', () => {
  it('reports the first three lines, then one every ten seconds, and counts all', () => {
    let now = 0;
    const junk = new IgnoredLines(() => now);
    const line = Buffer.from('hello');
    const note = () => junk.note('is junk', line, 0, line.length)?.message;

    expect(note()).toBe('line is junk, ignored (1 so far): "hello"');
    expect([note(), note()].every(Boolean)).toBe(true);
    expect([note(), note()]).toEqual([undefined, undefined]);
    now = 9_999;
    expect(note()).toBeUndefined();
    now = 10_000;
    expect(note()).toBe('line is junk, ignored (7 so far): "hello"');
    expect(note()).toBeUndefined();
    expect(junk.count).toBe(8);
  });

  it('shows only the beginning of a line, with nothing in it that a terminal would obey', () => {
    const line = Buffer.from(`\u001b[31m${'x'.repeat(1_000)}`);
    const message = new IgnoredLines().note('is junk', line, 0, line.length)?.message ?? '';
    expect(message).toContain('\\u001b[31mxxx');
    expect(message.length).toBeLessThan(200);
  });
});
