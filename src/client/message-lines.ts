import { BoundedBuffer } from '../lib/bounded-buffer/bounded-buffer.js';

const LF = 0x0a;

/** Yields the lines of a stream that are not blank, without their line feed; undefined for a line of more than `maxBytes`. */
export async function* messageLines(
  input: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<string | undefined> {
  const line = new BoundedBuffer(maxBytes);
  let isTooLong = false;
  const append = (bytes: Buffer): void => {
    if (!isTooLong) isTooLong = !line.append(bytes);
  };
  const take = (): string | undefined => {
    const text = isTooLong ? undefined : line.take().toString();
    isTooLong = false;
    return text;
  };
  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      append(chunk.subarray(start, end));
      start = end + 1;
      const text = take();
      if (text?.trim() !== '') yield text;
    }
    append(chunk.subarray(start));
  }
  const rest = take();
  if (rest?.trim() !== '') yield rest;
}
