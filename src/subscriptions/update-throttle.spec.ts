import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { UpdateThrottle } from './update-throttle.js';

describe('UpdateThrottle', () => {
  let throttle: UpdateThrottle<string>;
  let published: string[];

  beforeEach(() => {
    jest.useFakeTimers();
    published = [];
    throttle = new UpdateThrottle((update) => published.push(update));
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const pass = (update: string, key = 'x', windowMs = 100): boolean => throttle.submit(key, windowMs, update);

  it('publishes every update at once without a window', () => {
    expect(['1', '2', '3'].map((update) => pass(update, 'x', 0))).toEqual([true, true, true]);
    expect(published).toEqual(['1', '2', '3']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('publishes the first update at once and the latest one when the window ends', () => {
    expect(pass('1')).toBe(true);
    expect(published).toEqual(['1']);
    expect(pass('2')).toBe(true);
    expect(pass('3')).toBe(false);
    expect(pass('4')).toBe(false);
    jest.advanceTimersByTime(99);
    expect(published).toEqual(['1']);
    jest.advanceTimersByTime(1);
    expect(published).toEqual(['1', '4']);
  });

  it('opens another window with the update that it publishes at the end of one', () => {
    pass('1');
    pass('2');
    jest.advanceTimersByTime(100);
    pass('3');
    expect(published).toEqual(['1', '2']);
    jest.advanceTimersByTime(100);
    expect(published).toEqual(['1', '2', '3']);
  });

  it('opens no further window when no update came in one', () => {
    pass('1');
    jest.advanceTimersByTime(100);
    expect(jest.getTimerCount()).toBe(0);
    pass('2');
    expect(published).toEqual(['1', '2']);
  });

  it('throttles each key separately', () => {
    pass('1', 'x');
    pass('2', 'y');
    expect(published).toEqual(['1', '2']);
  });

  it('does not publish a dropped update, and continues afterwards', () => {
    expect(throttle.drop('x')).toBe(false);
    pass('1');
    expect(throttle.drop('x')).toBe(false);
    pass('2');
    expect(throttle.drop('x')).toBe(true);
    pass('3');
    jest.advanceTimersByTime(100);
    expect(published).toEqual(['1', '3']);
  });

  it('publishes every update at once beyond 10,000 open windows', () => {
    for (let i = 0; i < 10_001; i++) pass('first', `${i}`);
    published = [];
    pass('kept', '0');
    pass('passed', '10000');
    pass('passed', '10000');
    expect(published).toEqual(['passed', 'passed']);
    expect(jest.getTimerCount()).toBe(10_000);
    jest.advanceTimersByTime(200);
    expect(jest.getTimerCount()).toBe(0);
  });
});
