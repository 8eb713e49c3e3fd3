import { describe, expect, it } from '@jest/globals';
import { previewLines } from './preview-lines.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('previewLines', () => {
  it.each([
    ['text', [{ uri: 'a', text: 'one\r\ntwo\n\x1b[2Jthree' }], ['one', 'two', '\\x1b[2Jthree']],
    ['an empty text', [{ uri: 'a', text: '' }], ['(empty)']],
    ['no contents', [], ['(no contents)']],
    [
      'bytes',
      [{ uri: 'a', blob: base64('GIF89a\x00\x01\x02'), mimeType: 'image/gif' }],
      ['image/gif, 9 B', '', '0000  47 49 46 38 39 61 00 01  GIF89a..', '0008  02                       .'],
    ],
    [
      'several contents',
      [
        { uri: 'a', text: 'x' },
        { uri: 'b', text: 'y' },
      ],
      ['── 1 of 2: a', 'x', '', '── 2 of 2: b', 'y'],
    ],
  ])('shows %s', (_what, contents, lines) => {
    expect(previewLines(contents)).toEqual(lines);
  });

  it('limits text and bytes and notes the rest', () => {
    const lines = previewLines([{ uri: 'a', text: 'x\n'.repeat(1_000_000) }]);
    expect(lines.length).toBeLessThan(60_000);
    expect(lines.at(-1)).toBe('… 1.9 MB more');
    expect(previewLines([{ uri: 'a', blob: base64('x'.repeat(5000)) }]).at(-1)).toBe('… 4.0 kB more');
  });
});
