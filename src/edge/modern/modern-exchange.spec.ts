import { describe, expect, it } from '@jest/globals';
import { FakeResponse } from '../../../test/kit/fake-response.js';
import { flushPromises } from '../../../test/kit/promises.js';
import { Metrics } from '../../metrics/metrics.js';
import { ModernExchange } from './modern-exchange.js';

const SETTINGS = { queuedEvents: 10, stuckMs: 1000, observer: new Metrics() };
const UNREAD = { add: () => {}, watch: () => {} };

/** Counts how often the client is found to have left. */
function exchangeOn({ response }: FakeResponse): { left: number; exchange: ModernExchange } {
  const counts = { left: 0 };
  const exchange = new ModernExchange(response, SETTINGS, UNREAD, {
    startedAt: performance.now(),
    abort: () => void counts.left++,
  });
  return Object.assign(counts, { exchange });
}

describe('ModernExchange', () => {
  it('notices a client that leaves', async () => {
    const fake = new FakeResponse();
    const counts = exchangeOn(fake);
    fake.response.destroy();
    await flushPromises();
    expect(counts.left).toBe(1);
  });

  it('notices a client that has left while its request was read', async () => {
    const fake = new FakeResponse();
    fake.response.destroy();
    await flushPromises();
    expect(exchangeOn(fake).left).toBe(1);
  });

  it('sends notifications before the result, and none after it', async () => {
    const fake = new FakeResponse();
    const { exchange } = exchangeOn(fake);
    expect(exchange.send('{"method":"a"}', 'progress')).toBe(true);
    void exchange.answer({ requestId: 1, method: 'tools/call' } as never, { content: [] });
    expect(exchange.send('{"method":"b"}', 'progress')).toBe(false);
    await flushPromises();
    expect(fake.messages).toEqual([
      { method: 'a' },
      { jsonrpc: '2.0', id: 1, result: { resultType: 'complete', content: [] } },
    ]);
  });
});
