import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { outcomeOf, settled } from '../../../test/kit/fake-link.js';
import { linkTo } from '../../../test/kit/scripted-transport.js';

const EVERY_MS = 30_000;

const open = () => linkTo({}, { pingEveryMs: EVERY_MS });

async function pass(ms: number): Promise<void> {
  jest.advanceTimersByTime(ms);
  await settled();
}

describe('a link that is asked now and then whether its server is there', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  });
  afterEach(() => void jest.useRealTimers());

  it('asks after a silence only', async () => {
    const { transport } = await open();
    await pass(EVERY_MS);
    transport.notify('notifications/message', { level: 'info' });
    await pass(EVERY_MS);
    expect(transport.all('ping')).toHaveLength(0);
    await pass(EVERY_MS);
    expect(transport.all('ping')).toHaveLength(1);
  });

  it.each([
    ['an answer', {}],
    ['a refusal', undefined],
  ])('goes on after %s', async (_what, result) => {
    const { transport, link } = await open();
    const outcome = outcomeOf(link.closed);
    await pass(2 * EVERY_MS);
    const { id } = transport.only('ping');
    if (result) transport.answer(id, result);
    else transport.refuse(id, { code: -32601, message: 'ping?' });
    for (const ms of [0, EVERY_MS, EVERY_MS]) await pass(ms);
    expect(outcome).toEqual({});
    expect(transport.all('ping')).toHaveLength(2);
  });

  it('ends when nothing comes', async () => {
    const { transport, link } = await open();
    const outcome = outcomeOf(link.closed);
    await pass(2 * EVERY_MS);
    expect(transport.all('ping')).toHaveLength(1);
    await pass(EVERY_MS + 1000);
    expect(outcome.value).toMatchObject({ kind: 'timeout' });
    await link.close();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is not asked where nobody said so', async () => {
    const { transport } = await linkTo();
    await pass(10 * EVERY_MS);
    expect(transport.all('ping')).toHaveLength(0);
  });
});
