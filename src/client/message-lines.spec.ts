import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { messageLines } from './message-lines.js';

async function linesOf(chunks: readonly Buffer[], maxBytes = 1000): Promise<(string | undefined)[]> {
  const lines: (string | undefined)[] = [];
  for await (const line of messageLines(iterate(chunks), maxBytes)) lines.push(line);
  return lines;
}

async function* iterate(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}

describe('messageLines', () => {
  it('yields the same lines for every partition into chunks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.stringMatching(/^[aé€😀]{1,8}$/u)),
        fc.integer({ min: 1, max: 9 }),
        async (lines, size) => {
          const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
          const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
            bytes.subarray(index * size, (index + 1) * size),
          );
          expect(await linesOf(chunks)).toEqual(lines);
        },
      ),
    );
  });

  it('skips empty lines and yields the last line without a line feed', async () => {
    expect(await linesOf([Buffer.from('a\n\n \r\nb')])).toEqual(['a', 'b']);
  });

  it('yields undefined for a line above the limit, and continues with the next', async () => {
    const text = `${'x'.repeat(11)}\n${'y'.repeat(10)}\n`;
    expect(await linesOf([Buffer.from(text)], 10)).toEqual([undefined, 'y'.repeat(10)]);
    const chunks = Array.from(text, (letter) => Buffer.from(letter));
    expect(await linesOf(chunks, 10)).toEqual([undefined, 'y'.repeat(10)]);
  });
});
