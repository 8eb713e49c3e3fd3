import { describe, expect, it, jest } from '@jest/globals';
import { StderrTail } from './stderr-tail.js';

describe('StderrTail', () => {
  it('joins lines across chunks, skips empty ones and includes the unfinished last one', () => {
    const tail = new StderrTail();
    for (const chunk of ['fir', 'st\r\n\nsec', 'ond\nthi']) tail.push(Buffer.from(chunk));
    expect(tail.lines()).toEqual(['first', 'second', 'thi']);
  });

  it('returns the same array until more arrives', () => {
    const tail = new StderrTail();
    tail.push(Buffer.from('same\n'));
    const before = tail.lines();
    expect(tail.lines()).toBe(before);
    tail.push(Buffer.from('same\n'));
    expect(tail.lines()).not.toBe(before);
    expect(before).toEqual(['same']);
  });

  it('keeps the last 64 KB of a flood', () => {
    const tail = new StderrTail();
    const line = 'x'.repeat(999);
    for (let i = 0; i < 10_000; i++) tail.push(Buffer.from(`${line}${i % 10}\n`));
    expect(tail.lines()).toHaveLength(65);
    expect(tail.lines().at(-1)).toBe(`${line}9`);
  });

  it('limits the number of short lines', () => {
    const tail = new StderrTail();
    tail.push(Buffer.from('x\n'.repeat(50_000)));
    expect(tail.lines()).toHaveLength(1_000);
  });

  it('reads no lines of a chunk that later ones replace', () => {
    const tail = new StderrTail();
    tail.push(Buffer.from('unfinished'));
    const chunk = Buffer.from(`${Array.from({ length: 30_000 }, (_, n) => n % 10).join('\n')}\n\n`);
    const copy = jest.spyOn(chunk, 'copy');
    tail.push(chunk);
    expect(copy.mock.calls.length).toBeLessThan(1_010);
    expect(tail.lines()).toHaveLength(1_000);
    expect(tail.lines().slice(-3)).toEqual(['7', '8', '9']);
    tail.push(Buffer.from('\n'.repeat(30_000)));
    expect(tail.lines().at(-1)).toBe('9');
  });

  it('keeps the lines before many empty ones', () => {
    const tail = new StderrTail();
    tail.push(Buffer.from(`first\n${'\n'.repeat(5_000)}second\n${'\n'.repeat(5_000)}`));
    expect(tail.lines()).toEqual(['first', 'second']);
  });

  it('truncates an endless line', () => {
    const tail = new StderrTail();
    for (let i = 0; i < 100; i++) tail.push(Buffer.from('y'.repeat(1_000)));
    tail.push(Buffer.from('\nnext\n'));
    expect(tail.lines()).toEqual(['y'.repeat(4_096), 'next']);
  });
});
