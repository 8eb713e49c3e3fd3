import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Retries } from './retries.js';

describe('Retries', () => {
  let retries: Retries;
  let tried: string[];

  beforeEach(() => {
    jest.useFakeTimers();
    jest.spyOn(Math, 'random').mockReturnValue(1);
    tried = [];
    retries = new Retries((server) => tried.push(server));
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it('try a server again once, whatever failed of it before', () => {
    for (const server of ['db', 'db', 'git', 'db']) retries.plan(server);
    jest.advanceTimersByTime(4999);
    expect(tried).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(tried).toEqual(['db', 'git']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('wait ever longer, up to five minutes, as long as it goes on', () => {
    for (const seconds of [5, 10, 20, 40, 80, 160, 300, 300]) {
      retries.plan('db');
      const before = tried.length;
      jest.advanceTimersByTime(seconds * 1000 - 1);
      expect([seconds, tried.length]).toEqual([seconds, before]);
      jest.advanceTimersByTime(1);
      expect([seconds, tried.length]).toEqual([seconds, before + 1]);
    }
  });

  it('begin anew with a server that was forgotten, and leave no timer', () => {
    retries.plan('db');
    jest.advanceTimersByTime(5000);
    retries.plan('db');
    retries.forget('db');
    expect(jest.getTimerCount()).toBe(0);
    retries.plan('db');
    jest.advanceTimersByTime(5000);
    expect(tried).toEqual(['db', 'db']);
  });

  it('are over when they are stopped', () => {
    retries.plan('db');
    retries.plan('git');
    retries.stop();
    expect(jest.getTimerCount()).toBe(0);
  });
});
