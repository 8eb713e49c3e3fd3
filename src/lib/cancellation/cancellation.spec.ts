import { describe, expect, it, jest } from '@jest/globals';
import { Cancellation } from './cancellation.js';

describe('a cancellation', () => {
  it('tells everybody who listens, once', () => {
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

  it('does not tell who stopped listening, nor who came too late', () => {
    const cancellation = new Cancellation();
    const [gone, late] = [jest.fn(), jest.fn()];
    cancellation.removeEventListener('abort', gone);
    cancellation.addEventListener('abort', gone);
    cancellation.removeEventListener('abort', gone);
    cancellation.abort();
    cancellation.addEventListener('abort', late);
    expect(gone).not.toHaveBeenCalled();
    expect(late).not.toHaveBeenCalled();
  });

  it('tells in the order of listening', () => {
    const cancellation = new Cancellation();
    const order: string[] = [];
    cancellation.addEventListener('abort', () => order.push('first'));
    cancellation.addEventListener('abort', () => order.push('second'));
    cancellation.abort();
    expect(order).toEqual(['first', 'second']);
  });
});
