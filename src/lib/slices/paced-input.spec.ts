import { setImmediate as nextIteration } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { IterationBudget } from './iteration-budget.js';
import { PacedInput } from './paced-input.js';

// Work takes no time, so that a busy machine does not use up the budget.
beforeEach(() => void jest.spyOn(performance, 'now').mockReturnValue(0));
afterEach(() => void jest.restoreAllMocks());

function pacedInput() {
  const budget = new IterationBudget();
  const log: string[] = [];
  const source = { pause: () => void log.push('pause'), resume: () => void log.push('resume') };
  const input = new PacedInput(source, (piece) => void log.push(piece.toString()), budget);
  return { budget, log, push: (text: string) => input.push(Buffer.from(text)), input };
}

describe('PacedInput', () => {
  it('processes pieces at once within the budget', () => {
    const { log, push, input } = pacedInput();
    push('a');
    push('b');
    input.whenIdle(() => log.push('idle'));
    expect(log).toEqual(['a', 'b', 'idle']);
  });

  it('pauses its source while pieces wait, and processes them in order', async () => {
    const { budget, log, push, input } = pacedInput();
    budget.charge(100);
    push('a');
    push('b');
    input.whenIdle(() => log.push('idle'));
    expect(log).toEqual(['pause']);
    await nextIteration();
    expect(log).toEqual(['pause', 'a', 'b', 'resume', 'idle']);
    push('c');
    expect(log.at(-1)).toBe('c');
  });
});
