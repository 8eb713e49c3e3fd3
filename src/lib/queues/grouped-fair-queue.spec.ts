import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { GroupedFairQueue, type GroupedEntry } from './grouped-fair-queue.js';

const READY = (): boolean => true;

interface NaiveItem {
  readonly group: string;
  readonly key: string;
  readonly number: number;
}

/** The same rules with plain arrays and linear scans. */
class NaiveQueue {
  private items: NaiveItem[] = [];
  /** Groups and keys in the order in which they are served. */
  private rotation: string[] = [];
  private keys = new Map<string, string[]>();

  get size(): number {
    return this.items.length;
  }

  push(item: NaiveItem): void {
    const { group, key } = item;
    if (!this.rotation.includes(group)) this.rotation.push(group);
    const keys = this.keys.get(group) ?? [];
    this.keys.set(group, keys.includes(key) ? keys : [...keys, key]);
    this.items.push(item);
  }

  shift(isReady: (group: string) => boolean): number | undefined {
    const group = this.rotation.find(isReady);
    if (group === undefined) return undefined;
    const key = this.keys.get(group)![0]!;
    const item = this.items.find((one) => one.group === group && one.key === key)!;
    this.rotation = [...this.rotation.filter((one) => one !== group), group];
    this.keys.set(group, [...this.keys.get(group)!.slice(1), key]);
    this.remove(item.number);
    return item.number;
  }

  remove(number: number): boolean {
    const item = this.items.find((one) => one.number === number);
    if (!item) return false;
    const { group, key } = item;
    this.items = this.items.filter((one) => one !== item);
    if (!this.items.some((one) => one.group === group && one.key === key))
      this.keys.set(
        group,
        this.keys.get(group)!.filter((one) => one !== key),
      );
    if (this.sizeOf(group) === 0) this.rotation = this.rotation.filter((one) => one !== group);
    return true;
  }

  sizeOf(group: string): number {
    return this.items.filter((one) => one.group === group).length;
  }

  /** The newest item of each of the largest groups. */
  newestOfLargest(): readonly (number | undefined)[] {
    if (this.size === 0) return [undefined];
    const groupSize = Math.max(...this.rotation.map((group) => this.sizeOf(group)));
    return this.rotation
      .filter((group) => this.sizeOf(group) === groupSize)
      .map((group) => this.items.findLast((one) => one.group === group)!.number);
  }
}

type Step =
  | { readonly push: string; readonly key: string }
  | { readonly shiftUnless: string | null }
  | { readonly remove: number };

const groups = fc.constantFrom('a', 'b', '__proto__');
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ push: groups, key: fc.constantFrom('x', 'y', '') }) },
    { weight: 1, arbitrary: fc.record({ shiftUnless: fc.option(groups) }) },
    { weight: 1, arbitrary: fc.record({ remove: fc.nat(60) }) },
  ),
  { maxLength: 80 },
);

/** Both queues; an item is its number in the order of pushing. */
class Pair {
  readonly queue = new GroupedFairQueue<number>();
  readonly naive = new NaiveQueue();
  private readonly entries: GroupedEntry<number>[] = [];

  /** The results of both queues for the step. */
  take(step: Step): [unknown, unknown] {
    if ('push' in step) {
      const number = this.entries.length;
      this.entries.push(this.queue.push(step.push, step.key, number));
      this.naive.push({ group: step.push, key: step.key, number });
      return [this.queue.size, this.naive.size];
    }
    if ('remove' in step) {
      const entry = this.entries[step.remove];
      return entry ? [this.queue.remove(entry), this.naive.remove(entry.item)] : [false, false];
    }
    const isReady = (group: string): boolean => group !== step.shiftUnless;
    const next = this.queue.peek(isReady);
    const shifted = this.queue.shift(isReady);
    return [next === shifted ? shifted : 'another item', this.naive.shift(isReady)];
  }
}

const sizes = (queue: { sizeOf(group: string): number }): number[] =>
  ['a', 'b', '__proto__'].map((group) => queue.sizeOf(group));

describe('GroupedFairQueue', () => {
  it('behaves like the naive queue', () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const pair = new Pair();
        const { queue, naive } = pair;
        for (const step of taken) {
          const [answer, expected] = pair.take(step);
          expect(answer).toBe(expected);
          expect([queue.size, new Set(queue).size]).toEqual([naive.size, naive.size]);
          expect(sizes(queue)).toEqual(sizes(naive));
          expect(naive.newestOfLargest()).toContain(queue.newestOfLargest()?.item);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('serves groups round-robin, independent of the number of their keys', () => {
    const queue = new GroupedFairQueue<string>();
    for (let key = 0; key < 100; key++) queue.push('many', `${key}`, `many ${key}`);
    for (const item of ['one 1', 'one 2', 'one 3']) queue.push('one', 'k', item);
    const served = Array.from({ length: 6 }, () => queue.shift(READY));
    expect(served).toEqual(['many 0', 'one 1', 'many 1', 'one 2', 'many 2', 'one 3']);
  });

  it('serves the keys of one group round-robin', () => {
    const queue = new GroupedFairQueue<string>();
    for (const item of ['a1', 'a2', 'a3', 'b1']) queue.push('group', item.charAt(0), item);
    expect(Array.from({ length: 4 }, () => queue.shift(READY))).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  it('skips a group that is not ready, which keeps its turn', () => {
    const queue = new GroupedFairQueue<string>();
    for (const group of ['a', 'b', 'a', 'b']) queue.push(group, 'k', group);
    expect(queue.shift((group) => group !== 'a')).toBe('b');
    expect(queue.peek(READY)).toBe('a');
    expect(queue.peek(() => false)).toBeUndefined();
  });

  it('finds the newest item of the largest group of 10,000 without a search', () => {
    const queue = new GroupedFairQueue<number>();
    for (let group = 0; group < 10_000; group++) queue.push(`${group}`, 'k', group);
    for (let round = 0; round < 10_000; round++) {
      const entry = queue.push('0', `${round % 7}`, round);
      expect(queue.newestOfLargest()).toEqual({ item: round, groupSize: 2 });
      queue.remove(entry);
    }
  });
});
