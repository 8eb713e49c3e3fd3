import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { FairQueue, type QueueEntry } from './fair-queue.js';

/** The same behaviour with plain arrays and linear scans. */
class NaiveQueue {
  private lanes: { key: string; items: number[] }[] = [];

  get items(): number[] {
    return this.lanes.flatMap((lane) => lane.items);
  }

  push(key: string, item: number): void {
    const lane = this.lanes.find((candidate) => candidate.key === key);
    if (lane) lane.items.push(item);
    else this.lanes.push({ key, items: [item] });
  }

  peek(): number | undefined {
    return this.lanes[0]?.items[0];
  }

  shift(): number | undefined {
    const lane = this.lanes.shift();
    if (!lane) return undefined;
    const item = lane.items.shift();
    if (lane.items.length > 0) this.lanes.push(lane);
    return item;
  }

  remove(item: number): boolean {
    const lane = this.lanes.find((candidate) => candidate.items.includes(item));
    if (!lane) return false;
    lane.items = lane.items.filter((candidate) => candidate !== item);
    this.lanes = this.lanes.filter((candidate) => candidate.items.length > 0);
    return true;
  }
}

type Step =
  | { readonly do: 'push'; readonly key: string }
  | { readonly do: 'shift' }
  | { readonly do: 'remove'; readonly which: number };

const steps = fc.array(
  fc.oneof(
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('push' as const),
        key: fc.constantFrom('a', 'b', '__proto__', ''),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('shift' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), which: fc.nat(60) }) },
  ),
  { maxLength: 80 },
);

/** Both queues; an item is its number in the order of pushing. */
class Pair {
  readonly queue = new FairQueue<number>();
  readonly naive = new NaiveQueue();
  private readonly entries: QueueEntry<number>[] = [];

  /** The results of both queues for the step. */
  apply(step: Step): [unknown, unknown] {
    if (step.do === 'shift') return [this.queue.shift(), this.naive.shift()];
    if (step.do === 'push') {
      const item = this.entries.length;
      this.entries.push(this.queue.push(step.key, item));
      this.naive.push(step.key, item);
      return [this.queue.size, this.naive.items.length];
    }
    const entry = this.entries[step.which];
    return entry ? [this.queue.remove(entry), this.naive.remove(entry.item)] : [false, false];
  }
}

function drain<T>(queue: FairQueue<T>): T[] {
  return Array.from({ length: queue.size }, () => queue.shift() as T);
}

describe('FairQueue', () => {
  it('behaves like the naive queue', () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const pair = new Pair();
        for (const step of taken) {
          const [actual, expected] = pair.apply(step);
          expect(actual).toBe(expected);
          expect(pair.queue.peek()).toBe(pair.naive.peek());
          expect(pair.queue.size).toBe(pair.naive.items.length);
          expect([...pair.queue]).toEqual(pair.naive.items);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('returns undefined when it is empty', () => {
    const queue = new FairQueue<string>();
    expect(queue.size).toBe(0);
    expect(queue.peek()).toBeUndefined();
    expect(queue.shift()).toBeUndefined();
  });

  it.each([
    ['serves one key first in, first out', ['a1', 'a2', 'a3'], ['a1', 'a2', 'a3']],
    ['serves keys round-robin', ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'], ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']],
    ['serves the key first that was pushed first', ['b1', 'a1', 'b2'], ['b1', 'a1', 'b2']],
  ])('%s', (_rule, pushed, served) => {
    const queue = new FairQueue<string>();
    for (const item of pushed) queue.push(item.charAt(0), item);
    expect(drain(queue)).toEqual(served);
  });

  it('serves each of k waiting keys once in every k shifts', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 8 }), (backlogs) => {
        const queue = new FairQueue<number>();
        for (const [key, backlog] of backlogs.entries()) {
          for (let i = 0; i < backlog; i++) queue.push(`${key}`, key);
        }
        const allKeys = backlogs.map((_, key) => key);
        for (let round = 0; round < 20; round++) {
          const served = allKeys.map(() => {
            const key = queue.shift() as number;
            queue.push(`${key}`, key);
            return key;
          });
          expect(served.toSorted((a, b) => a - b)).toEqual(allKeys);
        }
      }),
    );
  });

  it('serves a single item after at most one item of each other key', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.nat(100), (others, servedBefore) => {
        const queue = new FairQueue<string>();
        for (let i = 0; i < 10_000; i++) queue.push('flood', 'flood');
        for (let key = 1; key < others; key++) {
          for (let i = 0; i < 200; i++) queue.push(`other ${key}`, 'other');
        }
        for (let i = 0; i < servedBefore; i++) queue.shift();
        queue.push('single', 'single');
        expect(drain(queue).indexOf('single')).toBeLessThanOrEqual(others);
      }),
      { numRuns: 20 },
    );
  });

  it('keeps the first item first while others are pushed', () => {
    const queue = new FairQueue<string>();
    queue.push('a', 'first');
    for (const key of ['b', 'a', 'c']) queue.push(key, 'later');
    expect(queue.peek()).toBe('first');
  });

  it('removes an item once, and not after it was served', () => {
    const queue = new FairQueue<string>();
    const served = queue.push('a', 'served');
    const left = queue.push('a', 'left');
    queue.shift();
    expect(queue.remove(served)).toBe(false);
    expect(queue.remove(left)).toBe(true);
    expect(queue.remove(left)).toBe(false);
    expect(queue.size).toBe(0);
  });

  it('allows removal of the current item during an iteration', () => {
    const queue = new FairQueue<string>();
    const entries = new Map(
      ['a1', 'a2', 'b1', 'c1', 'c2'].map((item) => [item, queue.push(item.charAt(0), item)]),
    );
    const seen: string[] = [];
    for (const item of queue) {
      seen.push(item);
      const entry = entries.get(item);
      if (entry) queue.remove(entry);
    }
    expect(seen).toEqual(['a1', 'a2', 'b1', 'c1', 'c2']);
    expect(queue.size).toBe(0);
  });

  it('does not remove an item of another queue', () => {
    const queue = new FairQueue<string>();
    queue.push('a', 'ours');
    const theirs = new FairQueue<string>().push('a', 'theirs');
    expect(queue.remove(theirs)).toBe(false);
    expect(queue.size).toBe(1);
  });

  it('removes items of a long queue without a search', () => {
    const queue = new FairQueue<number>();
    const entries = Array.from({ length: 200_000 }, (_, i) => queue.push('a', i));
    for (const entry of entries.toReversed()) queue.remove(entry);
    expect(queue.size).toBe(0);
  });
});
