import { describe, expect, it } from '@jest/globals';
import { WaitingLine } from './bounded-queue.js';

/** A line whose work waits for the spec. */
function lineOf(places: number) {
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const line = new WaitingLine<string>(places, (item) => {
    begun.push(item);
    return new Promise((resolve, reject) => {
      ends.set(item, (error) => (error ? reject(error) : resolve()));
    });
  });
  const end = async (item: string): Promise<void> => {
    ends.get(item)!();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { line, begun, end };
}

describe('WaitingLine', () => {
  it('works on so many at a time, in the order in which they came', async () => {
    const { line, begun, end } = lineOf(2);
    for (const item of ['a', 'b', 'c', 'd', 'c']) line.add(item);
    expect([begun, line.size]).toEqual([['a', 'b'], 2]);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
    await end('a');
    expect([begun, line.size]).toEqual([['a', 'b', 'c', 'd'], 0]);
  });

  it('passes over who has left', async () => {
    const { line, begun, end } = lineOf(1);
    for (const item of ['a', 'b', 'c', 'd']) line.add(item);
    line.delete('b');
    await end('a');
    expect(begun).toEqual(['a', 'c']);
    line.clear();
    await end('c');
    expect([begun, line.size]).toEqual([['a', 'c'], 0]);
  });
});
