import { describe, expect, it, jest } from '@jest/globals';
import { Cancellation } from './cancellation.js';

describe('Cancellation', () => {
  it('calls every listener once', () => {
    const cancellation = new Cancellation();
    const [first, second] = [jest.fn(), jest.fn()];
    cancellation.addEventListener('abort', first);
    cancellation.addEventListener('abort', second);
    cancellation.abort();
    cancellation.abort();
    expect(cancellation.aborted).toBe(true);
    expect(first).toHaveBeenCalledTimes(1);
    expect(second).toHaveBeenCalledTimes(1);
  });

  it('does not call listeners that were removed, or added after the abort', () => {
    const cancellation = new Cancellation();
    const [removed, late] = [jest.fn(), jest.fn()];
    cancellation.removeEventListener('abort', removed);
    cancellation.addEventListener('abort', removed);
    cancellation.removeEventListener('abort', removed);
    cancellation.abort();
    cancellation.addEventListener('abort', late);
    expect(removed).not.toHaveBeenCalled();
    expect(late).not.toHaveBeenCalled();
  });

  it('has the reason of the first abort', () => {
    const cancellation = new Cancellation();
    cancellation.abort('first');
    cancellation.abort('second');
    expect(cancellation.reason).toBe('first');
  });

  it('calls listeners in the order of adding', () => {
    const cancellation = new Cancellation();
    const order: string[] = [];
    cancellation.addEventListener('abort', () => order.push('first'));
    cancellation.addEventListener('abort', () => order.push('second'));
    cancellation.abort();
    expect(order).toEqual(['first', 'second']);
  });
});
