import { describe, expect, it } from '@jest/globals';
import { LineSplitter } from './line-splitter.js';

function open(maxLineBytes = 100) {
  const lines: string[] = [];
  const parts: Buffer[] = [];
  const reader = {
    readPart: (bytes: Buffer) => void parts.push(bytes),
    endLine: (bytes: Buffer, start: number, end: number) => {
      lines.push(Buffer.concat([...parts.splice(0), bytes.subarray(start, end)]).toString());
    },
  };
  return { lines, parts, splitter: new LineSplitter(maxLineBytes, reader) };
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

  it('hands on the parts of a line before it ends', () => {
    const { parts, splitter } = open();
    splitter.push(Buffer.from('a\nhalf'));
    expect(parts.map(String)).toEqual(['half']);
  });

  it('counts the bytes of a line from its start after clear', () => {
    const { splitter } = open(8);
    splitter.push(Buffer.from('12345'));
    splitter.clear();
    expect(splitter.push(Buffer.from('12345678\n'))).toBe(true);
  });
});
