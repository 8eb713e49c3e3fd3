import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { Deadlines } from './deadlines.js';

interface Item {
  readonly name: string;
  deadline: number;
}

/** Items and the times at which they expired, on a clock that begins at 0. */
class ExpiringItems {
  readonly items = new Set<Item>();
  readonly expired: [name: string, at: number][] = [];
  readonly start = performance.now();
  onExpire: (item: Item) => void = (item) => this.items.delete(item);
  readonly deadlines = new Deadlines<Item>(
    () => this.items,
    (item) => {
      this.expired.push([item.name, Math.floor(performance.now() - this.start)]);
      this.onExpire(item);
    },
  );

  add(name: string, afterMs: number): Item {
    const item = { name, deadline: performance.now() + afterMs };
    this.items.add(item);
    this.deadlines.watch(item.deadline);
    return item;
  }
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('Deadlines', () => {
  it('expires each item at its deadline with one timer', () => {
    const expiring = new ExpiringItems();
    for (const [name, ms] of [
      ['c', 300],
      ['a', 100],
      ['b', 200],
    ] as const)
      expiring.add(name, ms);
    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(1000);
    expect(expiring.expired.map(([name]) => name)).toEqual(['a', 'b', 'c']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('never expires an item early, nor more than 2 ms late', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 30 }), (delays) => {
        const expiring = new ExpiringItems();
        delays.forEach((ms, n) => expiring.add(String(n), ms));
        jest.advanceTimersByTime(600);
        expect(expiring.expired).toHaveLength(delays.length);
        for (const [name, at] of expiring.expired) {
          expect(at).toBeGreaterThanOrEqual(delays[Number(name)]!);
          expect(at).toBeLessThanOrEqual(delays[Number(name)]! + 2);
        }
      }),
    );
  });

  it('does not expire an item that was removed', () => {
    const expiring = new ExpiringItems();
    expiring.items.delete(expiring.add('a', 100));
    jest.advanceTimersByTime(1000);
    expect(expiring.expired).toEqual([]);
  });

  it('expires an item at its extended deadline', () => {
    const expiring = new ExpiringItems();
    const item = expiring.add('a', 100);
    item.deadline += 400;
    jest.advanceTimersByTime(400);
    expect(expiring.expired).toEqual([]);
    jest.advanceTimersByTime(200);
    expect(expiring.expired).toHaveLength(1);
  });

  it('expires an item again that extends its deadline when it expires', () => {
    const expiring = new ExpiringItems();
    expiring.onExpire = (item) => {
      if (expiring.expired.length < 3) item.deadline = performance.now() + 100;
      else expiring.items.delete(item);
    };
    expiring.add('a', 100);
    jest.advanceTimersByTime(1000);
    expect(expiring.expired).toHaveLength(3);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('watches an item that is added while another expires', () => {
    const expiring = new ExpiringItems();
    expiring.onExpire = (item) => {
      expiring.items.delete(item);
      if (item.name === 'a') expiring.add('b', 50);
    };
    expiring.add('a', 100);
    jest.advanceTimersByTime(1000);
    expect(expiring.expired.map(([name]) => name)).toEqual(['a', 'b']);
  });

  it('expires nothing after stop', () => {
    const expiring = new ExpiringItems();
    expiring.add('a', 100);
    expiring.deadlines.stop();
    expect(jest.getTimerCount()).toBe(0);
    jest.advanceTimersByTime(1000);
    expect(expiring.expired).toEqual([]);
  });

  it('needs no timer for an infinite deadline', () => {
    const expiring = new ExpiringItems();
    expiring.add('a', Infinity);
    expect(jest.getTimerCount()).toBe(0);
  });
});
