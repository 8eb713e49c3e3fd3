import { setImmediate as nextIteration } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { IterationBudget } from './iteration-budget.js';

let now = 0;
beforeEach(() => {
  now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** Work that takes so many milliseconds. */
const work =
  (ms: number, done: () => void = () => undefined) =>
  (): void => {
    now += ms;
    done();
  };

describe('IterationBudget', () => {
  it('runs work at once until the budget of the iteration is used up', () => {
    const budget = new IterationBudget();
    expect([budget.tryRun(work(1.5)), budget.tryRun(work(1.5)), budget.tryRun(work(1.5))]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('has a new budget in the next iteration', async () => {
    const budget = new IterationBudget();
    expect([budget.charge(1), budget.charge(1)]).toEqual([false, true]);
    await nextIteration();
    expect(budget.tryRun(work(1))).toBe(true);
  });

  it('runs waiting work in order, in each iteration as much as the budget allows', async () => {
    const budget = new IterationBudget();
    const order: string[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) budget.runLater(work(1, () => order.push(name)));
    const counts: number[] = [];
    while (order.length < 5) {
      await nextIteration();
      counts.push(order.length);
    }
    expect(order).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(counts).toEqual([2, 4, 5]);
  });

  it('does not run new work before work that waits', () => {
    const budget = new IterationBudget();
    budget.runLater(work(1));
    expect(budget.tryRun(work(1))).toBe(false);
  });

  it('resolves with the result of the work, or rejects with its error', async () => {
    const budget = new IterationBudget();
    await expect(budget.runWhenDue(() => 'result')).resolves.toBe('result');
    const failing = budget.runWhenDue(() => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
  });
});
