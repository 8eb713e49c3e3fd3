import { describe, expect, it } from '@jest/globals';
import { IgnoredLines } from './ignored-lines.js';

describe('IgnoredLines', () => {
  it('reports the first three lines and then one every ten seconds, and counts all', () => {
    let now = 0;
    const ignored = new IgnoredLines(() => now);
    const line = Buffer.from('hello');
    const add = () => ignored.add('is not JSON', line, 0, line.length)?.message;

    expect(add()).toBe('line is not JSON, ignored (1 so far): "hello"');
    expect([add(), add()].every(Boolean)).toBe(true);
    expect([add(), add()]).toEqual([undefined, undefined]);
    now = 9_999;
    expect(add()).toBeUndefined();
    now = 10_000;
    expect(add()).toBe('line is not JSON, ignored (7 so far): "hello"');
    expect(add()).toBeUndefined();
    expect(ignored.count).toBe(8);
  });

  it('shows the start of a line with control characters escaped', () => {
    const line = Buffer.from(`\u001b[31m${'x'.repeat(1_000)}`);
    const message = new IgnoredLines().add('is not JSON', line, 0, line.length)?.message ?? '';
    expect(message).toContain('\\u001b[31mxxx');
    expect(message.length).toBeLessThan(200);
  });
});
