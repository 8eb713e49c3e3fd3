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

  const submit = (update: string, key = 'x', windowMs = 100): boolean =>
    throttle.submit(key, windowMs, update);

  it('publishes every update at once without a window', () => {
    expect(['1', '2', '3'].map((update) => submit(update, 'x', 0))).toEqual([true, true, true]);
    expect(published).toEqual(['1', '2', '3']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('publishes the first update at once and the latest one when the window ends', () => {
    expect(submit('1')).toBe(true);
    expect(published).toEqual(['1']);
    expect(submit('2')).toBe(true);
    expect(submit('3')).toBe(false);
    expect(submit('4')).toBe(false);
    jest.advanceTimersByTime(99);
    expect(published).toEqual(['1']);
    jest.advanceTimersByTime(1);
    expect(published).toEqual(['1', '4']);
  });

  it('opens another window when it publishes an update at the end of a window', () => {
    submit('1');
    submit('2');
    jest.advanceTimersByTime(100);
    submit('3');
    expect(published).toEqual(['1', '2']);
    jest.advanceTimersByTime(100);
    expect(published).toEqual(['1', '2', '3']);
  });

  it('opens no further window after a window without updates', () => {
    submit('1');
    jest.advanceTimersByTime(100);
    expect(jest.getTimerCount()).toBe(0);
    submit('2');
    expect(published).toEqual(['1', '2']);
  });

  it('throttles each key separately', () => {
    submit('1', 'x');
    submit('2', 'y');
    expect(published).toEqual(['1', '2']);
  });

  it('does not publish a dropped update, and continues afterwards', () => {
    expect(throttle.drop('x')).toBe(false);
    submit('1');
    expect(throttle.drop('x')).toBe(false);
    submit('2');
    expect(throttle.drop('x')).toBe(true);
    submit('3');
    jest.advanceTimersByTime(100);
    expect(published).toEqual(['1', '3']);
  });

  it('publishes every update at once beyond 10,000 open windows', () => {
    for (let i = 0; i < 10_001; i++) submit('first', `${i}`);
    published = [];
    submit('kept', '0');
    submit('passed', '10000');
    submit('passed', '10000');
    expect(published).toEqual(['passed', 'passed']);
    expect(jest.getTimerCount()).toBe(10_000);
    jest.advanceTimersByTime(200);
    expect(jest.getTimerCount()).toBe(0);
  });
});
