import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeLink, settled } from '../../../test/kit/fake-link.js';
import { GatewayError } from '../../core/errors.js';
import { Responsiveness } from './responsiveness.js';

function watched() {
  const changes: boolean[] = [];
  const link = new FakeLink();
  const responsiveness = new Responsiveness((hangs) => changes.push(hangs));
  const timeOut = (times: number): void => {
    for (let n = 0; n < times; n++) responsiveness.timedOut(link);
  };
  return { changes, link, responsiveness, timeOut };
}

async function pass(ms: number): Promise<void> {
  jest.advanceTimersByTime(ms);
  await settled();
}

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

describe('a server', () => {
  it('hangs after three timeouts in a row', () => {
    const { changes, responsiveness, timeOut } = watched();
    timeOut(2);
    expect(responsiveness.hangs).toBe(false);
    timeOut(1);
    expect(responsiveness.hangs).toBe(true);
    timeOut(5);
    expect(changes).toEqual([true]);
  });

  it('does not hang when it answers in between', () => {
    const { changes, responsiveness, timeOut } = watched();
    timeOut(2);
    responsiveness.answered();
    timeOut(2);
    expect(responsiveness.hangs).toBe(false);
    expect(changes).toEqual([]);
  });

  it('that hangs is pinged, and is back when it answers', async () => {
    const { changes, link, responsiveness, timeOut } = watched();
    timeOut(3);
    await pass(1000);
    link.asked('ping').fail(new GatewayError('timeout', 'no'));
    await settled();
    await pass(1000);
    expect(link.count('ping')).toBe(2);
    link.asked('ping').answer({});
    await settled();
    expect(responsiveness.hangs).toBe(false);
    expect(changes).toEqual([true, false]);
    await pass(60_000);
    expect(link.count('ping')).toBe(2);
    timeOut(2);
    expect(responsiveness.hangs).toBe(false);
  });

  it('that answers a call after all is back, and is pinged no more', async () => {
    const { link, responsiveness, timeOut } = watched();
    timeOut(3);
    responsiveness.answered();
    await pass(60_000);
    expect(link.count('ping')).toBe(0);
  });

  it('is pinged once at a time, though it came back and hangs again', async () => {
    const { link, responsiveness, timeOut } = watched();
    timeOut(3);
    await pass(1000);
    const first = link.asked('ping');
    responsiveness.answered();
    timeOut(3);
    first.fail(new GatewayError('timeout', 'no'));
    await settled();
    await pass(1000);
    expect(link.open.size).toBe(1);
  });

  it('whose link is gone is judged anew, and nobody says that it answers', async () => {
    const { changes, link, responsiveness, timeOut } = watched();
    timeOut(3);
    responsiveness.reset();
    expect(responsiveness.hangs).toBe(false);
    expect(changes).toEqual([true]);
    await pass(60_000);
    expect(link.count('ping')).toBe(0);
    timeOut(2);
    expect(responsiveness.hangs).toBe(false);
  });
});
