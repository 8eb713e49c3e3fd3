import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { advanceTime } from '../../../test/kit/fake-time.js';
import { outcomeOf } from '../../../test/kit/promises.js';
import { linkTo } from '../../../test/kit/fake-transport.js';

const INTERVAL_MS = 30_000;

const open = () => linkTo({}, { keepaliveIntervalMs: INTERVAL_MS });

describe('JsonRpcLink with a keepalive interval', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  });
  afterEach(() => void jest.useRealTimers());

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

  it('does not ping without a keepalive interval', async () => {
    const { transport } = await linkTo();
    await advanceTime(10 * INTERVAL_MS);
    expect(transport.all('ping')).toHaveLength(0);
  });
});
