import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { IterationBudget } from '../../lib/slices/iteration-budget.js';
import { InboundLimiter, MAX_WAITING_TEXT_LENGTH, type InboundLimits } from './inbound-limiter.js';

const LIMITS: InboundLimits = {
  messagesPerSecond: 100,
  burst: 10,
  maxWaiting: 5,
  maxWaitingLength: 1000,
  readShare: 0.1,
};

const message = (method: string, params: object): string =>
  JSON.stringify({ jsonrpc: '2.0', method, params });
const update = (uri: string, n = 0): string => message('notifications/resources/updated', { uri, n });
/** An update with this number of characters. */
const updateOf = (length: number): string => update('x'.repeat(length - update('').length));
const progress = (progressToken: unknown, value: number): string =>
  message('notifications/progress', { progressToken, progress: value });
const log = message('notifications/message', { level: 'info', data: 'x' });
const LIST_CHANGED = message('notifications/tools/list_changed', {});

/** A limiter of messages that are all parsed and accepted when they are admitted, as the link does it. */
class Harness {
  readonly delivered: string[] = [];
  readonly counts = { coalesced: 0, dropped: 0, lost: 0 };
  readonly limiter: InboundLimiter;

  constructor(limits: Partial<InboundLimits> = {}) {
    this.limiter = new InboundLimiter(
      {
        deliver: (text) => this.receive(text),
        excess: (outcome) => this.counts[outcome]++,
        malformed: () => {},
        lost: () => this.counts.lost++,
        delayed: () => {},
      },
      { ...LIMITS, ...limits },
      new IterationBudget(),
    );
  }

  /** Whether the message is parsed. */
  push(text: string): boolean {
    if (!this.limiter.admits(text)) return false;
    this.receive(text);
    return true;
  }

  private receive(text: string): void {
    const { method } = JSON.parse(text) as { method?: string };
    if (method === undefined || this.limiter.accepts(method, { text })) this.delivered.push(text);
  }

  exhaust(): this {
    for (let n = 0; n < LIMITS.burst; n++) this.push(log);
    this.delivered.length = 0;
    return this;
  }
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('InboundLimiter', () => {
  it('admits a burst, then messages at the rate, and drops the others', () => {
    const harness = new Harness();
    const pushMany = (): void => {
      for (let n = 0; n < 50; n++) harness.push(log);
    };
    pushMany();
    expect(harness.delivered).toHaveLength(10);
    jest.advanceTimersByTime(30);
    pushMany();
    expect(harness.delivered).toHaveLength(13);
    jest.advanceTimersByTime(60_000);
    pushMany();
    expect(harness.delivered).toHaveLength(23);
    expect(harness.counts).toEqual({ coalesced: 0, dropped: 127, lost: 0 });
  });

  it.each([
    ['updates of one resource', update('x:1', 1), update('x:1', 2)],
    ['the progress of one call', progress(7, 1), progress(7, 2)],
    ['the progress of a call with a text token', progress('a"b', 1), progress('a"b', 2)],
    ['list changes', LIST_CHANGED, LIST_CHANGED],
  ])('coalesces %s beyond the rate and delivers the last one', (_what, first, last) => {
    const harness = new Harness().exhaust();
    for (const text of [first, first, last]) harness.push(text);
    expect(harness.delivered).toEqual([]);
    jest.advanceTimersByTime(20);
    expect(harness.delivered).toEqual([last]);
    expect(harness.counts).toEqual({ coalesced: 2, dropped: 0, lost: 0 });
  });

  it('admits an awaited acknowledgement beyond the rate, and drops another', () => {
    const acknowledged = message('notifications/subscriptions/acknowledged', {});
    const harness = new Harness().exhaust();
    harness.limiter.awaitedAcknowledgements = 1;
    harness.push(acknowledged);
    harness.limiter.awaitedAcknowledgements = 0;
    harness.push(acknowledged);
    expect(harness.delivered).toEqual([acknowledged]);
    expect(harness.counts.dropped).toBe(1);
  });

  it('delivers updates of several resources in order, at the rate, before new messages', () => {
    const harness = new Harness().exhaust();
    for (let n = 0; n < 5; n++) harness.push(update(`x:${n}`));
    jest.advanceTimersByTime(20);
    expect(harness.push(log)).toBe(false);
    expect(harness.delivered).toEqual([update('x:0'), update('x:1')]);
    jest.advanceTimersByTime(60);
    expect(harness.delivered).toEqual([0, 1, 2, 3, 4].map((n) => update(`x:${n}`)));
    expect(harness.push(log)).toBe(true);
  });

  it.each([
    ['messages', {}, (n: number) => update(`x:${n}`)],
    ['characters', { maxWaiting: 100 }, (n: number) => update(`x:${n}${'y'.repeat(150)}`)],
  ])('drops updates beyond the maximum of waiting %s, and reports the loss once', (_what, limits, text) => {
    const harness = new Harness(limits).exhaust();
    for (let n = 0; n < 20; n++) harness.push(text(n));
    jest.advanceTimersByTime(1000);
    expect(harness.delivered.length).toBeGreaterThan(1);
    expect(harness.delivered.length).toBeLessThan(6);
    expect(harness.counts).toMatchObject({ dropped: 20 - harness.delivered.length, lost: 1 });
    jest.advanceTimersByTime(1000);
    expect(harness.counts.lost).toBe(1);
  });

  it('drops an update beyond the rate that is too long to wait', () => {
    const harness = new Harness({ maxWaitingLength: 1e6 }).exhaust();
    harness.push(updateOf(MAX_WAITING_TEXT_LENGTH));
    harness.push(updateOf(MAX_WAITING_TEXT_LENGTH + 1));
    jest.advanceTimersByTime(1000);
    expect(harness.delivered).toEqual([updateOf(MAX_WAITING_TEXT_LENGTH)]);
    expect(harness.counts).toMatchObject({ dropped: 1, lost: 1 });
  });

  it.each([
    '{"jsonrpc":"2.0","id":1,"result":{"method":"m"}}',
    '{"result":{"method":"m"},"jsonrpc":"2.0","id":1}',
    '{"id":1,"jsonrpc":"2.0","error":{"code":1,"message":"\\"method\\":\\"m\\""}}',
    '{"jsonrpc":"2.0","id":"\\","method":"m","result":{}}',
    '[{"jsonrpc":"2.0","method":"m"}]',
    'null',
    '{',
  ])('admits %s beyond the rate, because it may be a response', (text) => {
    expect(new Harness().exhaust().limiter.admits(text)).toBe(true);
  });

  it.each([
    '{"jsonrpc":"2.0","method":"m","params":{}}',
    ' { "method" : "m" , "jsonrpc":"2.0"}',
    '{"jsonrpc":"2.0","id":"a","method":"sampling/createMessage","params":{"result":{}}}',
    '{"id":-1,"jsonrpc":"2.0","method":"m"}',
  ])('does not have %s parsed beyond the rate', (text) => {
    const { limiter, counts } = new Harness().exhaust();
    expect(limiter.admits(text)).toBe(false);
    expect(counts.dropped).toBe(1);
  });

  it('refuses a parsed message beyond the rate that was not recognised before', () => {
    const harness = new Harness().exhaust();
    expect(harness.push('{"params":{},"method":"m","jsonrpc":"2.0"}')).toBe(true);
    expect(harness.delivered).toEqual([]);
    expect(harness.counts.dropped).toBe(1);
  });

  it('counts messages without effect against the rate', () => {
    const { limiter } = new Harness();
    for (let n = 0; n < 100; n++) limiter.charge();
    expect(limiter.admits(log)).toBe(false);
    jest.advanceTimersByTime(10);
    expect(limiter.admits(log)).toBe(true);
  });

  it('has reading pause in proportion to its time, only beyond the rate', () => {
    const harness = new Harness();
    expect(harness.limiter.pauseAfter(1)).toBe(0);
    harness.exhaust();
    const pauses = [0.05, 0.05, 0.05, 2, 1000].map((ms) => harness.limiter.pauseAfter(ms));
    expect(pauses).toEqual([0, 0, 1, 18, 50]);
    jest.advanceTimersByTime(10);
    expect(harness.limiter.pauseAfter(1)).toBe(0);
  });

  it('has reading pause within the rate when the input of all connections takes too long', () => {
    const { limiter } = new Harness();
    expect(limiter.pauseAfter(3)).toBe(1);
    jest.advanceTimersByTime(10);
    expect(limiter.pauseAfter(1)).toBe(0);
  });

  it('delivers and schedules nothing after it was stopped', () => {
    const harness = new Harness().exhaust();
    harness.push(update('x:1'));
    harness.limiter.stop();
    harness.push(update('x:2'));
    jest.advanceTimersByTime(1000);
    expect(harness.delivered).toEqual([]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('delivers, coalesces or drops every message exactly once, and the last update of each resource', () => {
    const event = fc.oneof(
      fc.integer({ min: 0, max: 3 }).map((uri) => ({ uri })),
      fc.constant('log' as const),
      fc.integer({ min: 1, max: 200 }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 200 }), (events) => {
        const harness = new Harness();
        const last = new Map<number, string>();
        let sent = 0;
        for (const [n, each] of events.entries()) {
          if (typeof each === 'number') {
            jest.advanceTimersByTime(each);
            continue;
          }
          sent++;
          const text = each === 'log' ? log : update(`x:${each.uri}`, n);
          if (each !== 'log') last.set(each.uri, text);
          harness.push(text);
        }
        jest.advanceTimersByTime(1000);
        const { coalesced, dropped } = harness.counts;
        expect(harness.delivered.length + coalesced + dropped).toBe(sent);
        for (const text of last.values()) expect(harness.delivered).toContain(text);
      }),
    );
  });
});
