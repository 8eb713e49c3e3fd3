import { BoundedBuffer } from '../lib/bounded-buffer/bounded-buffer.js';

const LF = 0x0a;

/**
 * Yields the lines of a stream without their line feeds. Leaves out blank lines. Yields undefined for a line over
 * `maxBytes`.
 */
export async function* messageLines(
  input: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<string | undefined> {
  const line = new BoundedBuffer(maxBytes);
  let isTooLong = false;
  const append = (bytes: Buffer): void => {
    if (!isTooLong) isTooLong = !line.append(bytes);
  };
  const takeLine = (): string | undefined => {
    const text = isTooLong ? undefined : line.take().toString();
    isTooLong = false;
    return text;
  };
  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      append(chunk.subarray(start, end));
      start = end + 1;
      const text = takeLine();
      if (text?.trim() !== '') yield text;
    }
    append(chunk.subarray(start));
  }
  const lastLine = takeLine();
  if (lastLine?.trim() !== '') yield lastLine;
}
