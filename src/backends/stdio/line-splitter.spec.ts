import { describe, expect, it } from '@jest/globals';
import { LineSplitter } from './line-splitter.js';

function open(maxLineBytes = 100) {
  const lines: string[] = [];
  const read = (bytes: Buffer, start: number, end: number) =>
    void lines.push(bytes.toString('utf8', start, end));
  return { lines, splitter: new LineSplitter(maxLineBytes, read) };
}

describe('LineSplitter', () => {
  it('finds the same lines in any pieces', () => {
    const stream = Buffer.from('one\n\nzwölf 🏰\r\nlast\nunfinished');
    for (let cut = 0; cut <= stream.length; cut++) {
      for (let size = 1; size <= stream.length; size += 3) {
        const { lines, splitter } = open();
        splitter.push(stream.subarray(0, cut));
        for (let at = cut; at < stream.length; at += size) splitter.push(stream.subarray(at, at + size));
        expect(lines).toEqual(['one', '', 'zwölf 🏰\r', 'last']);
      }
    }
  });

  it.each([
    ['in one chunk', ['12345678\n'], true],
    ['in pieces', ['1234', '5678', '\n'], true],
    ['over the limit in one chunk', ['123456789\n'], false],
    ['over the limit in pieces', ['1234', '56789'], false],
    ['over the limit with its newline', ['1234', '56789\n'], false],
    ['over the limit after a valid line', ['1\n123456789'], false],
  ])('accepts a line up to the size limit: %s', (_, chunks, isAccepted) => {
    const { splitter } = open(8);
    expect(chunks.map((chunk) => splitter.push(Buffer.from(chunk))).every(Boolean)).toBe(isAccepted);
  });

  it('joins a line that came byte by byte', () => {
    const { lines, splitter } = open(5_000);
    const line = 'abcdefghij'.repeat(400);
    for (const byte of Buffer.from(`${line}\n`)) splitter.push(Buffer.of(byte));
    expect(lines).toEqual([line]);
  });

  it('drops the unfinished line on clear', () => {
    const { lines, splitter } = open();
    splitter.push(Buffer.from('half'));
    splitter.clear();
    splitter.push(Buffer.from('whole\n'));
    expect(lines).toEqual(['whole']);
  });
});
