import { describe, expect, it } from '@jest/globals';
import { WorkerPool } from './worker-pool.js';

/** A pool in which the spec ends the processing of each item. */
function poolOf(maxConcurrent: number) {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const pool = new WorkerPool<string>(maxConcurrent, (item) => {
    started.push(item);
    return new Promise((resolve) => ends.set(item, resolve));
  });
  const end = async (item: string): Promise<void> => {
    ends.get(item)!();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { pool, started, end };
}

describe('WorkerPool', () => {
  it('processes as many items at once as it has workers, in the order in which they were added', async () => {
    const { pool, started, end } = poolOf(2);
    for (const item of ['a', 'b', 'c', 'd', 'c']) pool.add(item);
    expect([started, pool.size]).toEqual([['a', 'b'], 2]);
    await end('b');
    expect(started).toEqual(['a', 'b', 'c']);
    await end('a');
    expect([started, pool.size]).toEqual([['a', 'b', 'c', 'd'], 0]);
  });

  it('skips items that were deleted or cleared while they waited', async () => {
    const { pool, started, end } = poolOf(1);
    for (const item of ['a', 'b', 'c', 'd']) pool.add(item);
    pool.delete('b');
    await end('a');
    expect(started).toEqual(['a', 'c']);
    pool.clear();
    await end('c');
    expect([started, pool.size]).toEqual([['a', 'c'], 0]);
  });
});
