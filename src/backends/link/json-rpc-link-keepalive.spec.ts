import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { advanceTime } from '../../../test/kit/fake-time.js';
import { outcomeOf } from '../../../test/kit/promises.js';
import { linkTo } from '../../../test/kit/fake-transport.js';

const INTERVAL_MS = 30_000;

const open = () => linkTo({}, { keepaliveIntervalMs: INTERVAL_MS });

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
});
afterEach(() => void jest.useRealTimers());

const openIdle = () => linkTo({}, { idlePingIntervalMs: INTERVAL_MS });

describe('JsonRpcLink with an idle interval', () => {
  it('pings after every interval without a request, also while the server sends messages', async () => {
    const { transport, link } = await openIdle();
    void link.request({ method: 'tools/list', timeoutMs: 1000 }).catch(() => {});
    await advanceTime(INTERVAL_MS);
    expect(transport.all('ping')).toHaveLength(0);
    for (const pings of [1, 2]) {
      transport.notify('notifications/message', { level: 'info' });
      await advanceTime(INTERVAL_MS);
      expect(transport.all('ping')).toHaveLength(pings);
    }
  });

  it('stays open when the ping is not answered, and stops pinging when it is closed', async () => {
    const { transport, link } = await openIdle();
    const outcome = outcomeOf(link.closed);
    await advanceTime(3 * INTERVAL_MS);
    await advanceTime(10_000);
    expect(outcome).toEqual({});
    const pings = transport.all('ping').length;
    await link.close();
    await advanceTime(3 * INTERVAL_MS);
    expect(transport.all('ping')).toHaveLength(pings);
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('JsonRpcLink with a keepalive interval', () => {
  it('pings only after an interval without a message', async () => {
    const { transport } = await open();
    await advanceTime(INTERVAL_MS);
    transport.notify('notifications/message', { level: 'info' });
    await advanceTime(INTERVAL_MS);
    expect(transport.all('ping')).toHaveLength(0);
    await advanceTime(INTERVAL_MS);
    expect(transport.all('ping')).toHaveLength(1);
  });

  it.each([
    ['an answer', {}],
    ['an error', undefined],
  ])('stays open after %s to the ping', async (_what, result) => {
    const { transport, link } = await open();
    const outcome = outcomeOf(link.closed);
    await advanceTime(2 * INTERVAL_MS);
    const { id } = transport.only('ping');
    if (result) transport.answer(id, result);
    else transport.refuse(id, { code: -32601, message: 'ping?' });
    for (const ms of [0, INTERVAL_MS, INTERVAL_MS]) await advanceTime(ms);
    expect(outcome).toEqual({});
    expect(transport.all('ping')).toHaveLength(2);
  });

  it('closes when the ping is not answered', async () => {
    const { transport, link } = await open();
    const outcome = outcomeOf(link.closed);
    await advanceTime(2 * INTERVAL_MS);
    expect(transport.all('ping')).toHaveLength(1);
    await advanceTime(INTERVAL_MS + 1000);
    expect(outcome.value).toMatchObject({ kind: 'timeout' });
    await link.close();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('does not ping without an interval', async () => {
    const { transport } = await linkTo();
    await advanceTime(10 * INTERVAL_MS);
    expect(transport.all('ping')).toHaveLength(0);
  });
});
