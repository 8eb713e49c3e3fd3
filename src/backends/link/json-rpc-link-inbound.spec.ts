import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { linkTo } from '../../../test/kit/fake-transport.js';
import { INBOUND_LIMITS } from './inbound-limiter.js';
import type { ServerNotification } from './link.js';
import { TransportError } from './transport.js';

const UPDATED = 'notifications/resources/updated';

async function setUp() {
  const excess: string[] = [];
  const { transport, link } = await linkTo({}, { onExcess: (outcome) => excess.push(outcome) });
  const notified: ServerNotification[] = [];
  link.onNotification((notification) => notified.push(notification));
  return { transport, link, excess, notified };
}

describe('JsonRpcLink, unsolicited messages', () => {
  let warned: jest.SpiedFunction<Logger['warn']>;
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  const warnings = (): unknown[] => warned.mock.calls.map(([entry]) => entry);

  it('are limited to the rate: notifications are counted and logged once beyond it', async () => {
    const { transport, excess, notified } = await setUp();
    for (let n = 0; n < INBOUND_LIMITS.burst + 10; n++) transport.notify('notifications/message', { n });
    expect(notified).toHaveLength(INBOUND_LIMITS.burst);
    expect(excess).toEqual(Array.from({ length: 10 }, () => 'dropped'));
    expect(warnings().slice(0, 1)).toEqual([
      { message: 'the server sends more messages than its rate allows', server: 'db' },
    ]);
  });

  it.each([
    ['responses to no request', { id: 'unknown', result: {} }],
    ['invalid messages', { id: null, method: 7 }],
  ])('are limited to the rate: %s count too', async (_what, message) => {
    const { transport, excess } = await setUp();
    for (let n = 0; n < INBOUND_LIMITS.burst; n++) transport.receive(message);
    transport.notify('notifications/message', {});
    expect(excess).toEqual(['dropped']);
  });

  it('are delivered later if they waited for the rate', async () => {
    const { transport, notified } = await setUp();
    for (let n = 0; n < INBOUND_LIMITS.burst; n++) transport.notify('notifications/message', {});
    transport.notify(UPDATED, { uri: 'x:1', n: 1 }, 5);
    transport.notify(UPDATED, { uri: 'x:1', n: 2 }, 5);
    expect(notified).toHaveLength(INBOUND_LIMITS.burst);
    jest.advanceTimersByTime(100);
    expect(notified.slice(INBOUND_LIMITS.burst)).toMatchObject([{ method: UPDATED, params: { n: 2 } }]);
  });

  it('leave a gap when updates were dropped', async () => {
    const { transport, link } = await setUp();
    let gaps = 0;
    link.onGap(() => gaps++);
    for (let n = 0; n < INBOUND_LIMITS.burst + INBOUND_LIMITS.maxWaiting + 1; n++)
      transport.notify(UPDATED, { uri: `x:${n}` });
    jest.advanceTimersByTime((INBOUND_LIMITS.maxWaiting / INBOUND_LIMITS.messagesPerSecond) * 1000 + 1000);
    expect(gaps).toBe(1);
  });

  it('are logged when they are not processed, unless the transport closes', async () => {
    const { transport } = await setUp();
    transport.onerror?.(new Error('line is not JSON-RPC'));
    transport.receive({ id: true, method: 'm' });
    transport.onerror?.(new TransportError('broken', 'exited with code 1'));
    expect(warnings()).toEqual([
      {
        message: 'the server sent a message that was not processed',
        server: 'db',
        cause: 'line is not JSON-RPC',
      },
      {
        message: 'the server sent an invalid message',
        server: 'db',
        cause: 'id must be a string or an integer',
      },
    ]);
  });
});
