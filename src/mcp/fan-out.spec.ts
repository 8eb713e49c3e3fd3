import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { flushPromises } from '../../test/kit/promises.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { notificationFrame } from './event-frame.js';
import { FanOut, type OutgoingNotification, type Recipient } from './fan-out.js';

/** Every reading of the clock is a second later than the last. */
function slowClock(): void {
  let now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => (now += 1000));
}

const failToRead = (): never => {
  throw new Error('no recipients');
};

describe('FanOut', () => {
  let fanOut: FanOut;
  /** Each delivery in order; `|` where a notification gets another event, because a slice has ended. */
  let delivered: string[];
  let lines: string[];

  beforeEach(() => {
    lines = recordLog();
    fanOut = new FanOut();
    delivered = [];
  });
  afterEach(() => void jest.restoreAllMocks());

  /** A notification for that many recipients. */
  function notification(key: string | undefined, name: string, count: number): OutgoingNotification {
    let events = 0;
    return {
      ...(key !== undefined && { key }),
      *recipients(): Generator<Recipient> {
        for (let n = 1; n <= count; n++) yield { deliver: () => delivered.push(`${name}${n}`) };
      },
      createEvent: () => {
        if (events++ > 0) delivered.push('|');
        return { frame: notificationFrame(name, '_other') };
      },
    };
  }
  const deliver = (key: string | undefined, name: string, count: number): boolean =>
    fanOut.deliver(notification(key, name, count));

  it('delivers at once to a small number of recipients', () => {
    jest.spyOn(performance, 'now').mockReturnValue(0);
    expect(deliver('a', 'a', 100)).toBe(true);
    expect(delivered).toHaveLength(100);
    deliver('a', 'b', 1);
    expect(delivered.at(-1)).toBe('b1');
  });

  it('yields after two megabytes of first writes of large events', async () => {
    jest.spyOn(performance, 'now').mockReturnValue(0);
    let count = 0;
    const recipient: Recipient = { deliver: () => count++ };
    fanOut.deliver({
      recipients: () => Array.from({ length: 40 }, () => recipient).values(),
      createEvent: () => ({ frame: notificationFrame('a', '_other', 1_000_000) }),
    });
    expect(count).toBe(32);
    await flushPromises();
    expect(count).toBe(40);
  });

  it('gives the same event to all recipients of a slice', () => {
    const events = new Set<unknown>();
    const recipient: Recipient = { deliver: (frame, options) => events.add(frame).add(options) };
    fanOut.deliver({
      recipients: () => Array.from({ length: 100 }, () => recipient).values(),
      createEvent: () => ({ frame: notificationFrame('a', '_other'), kind: 'message' }),
    });
    expect(events.size).toBe(2);
  });

  it('yields after a long slice, continues with another event, and keeps the order', async () => {
    slowClock();
    deliver('a', 'a', 70);
    expect(delivered).toHaveLength(32);
    deliver('b', 'b', 1);
    await flushPromises();
    expect(delivered.slice(31, 35)).toEqual(['a32', '|', 'a33', 'a34']);
    await flushPromises();
    expect(delivered.at(-1)).toBe('b1');
    expect(delivered.filter((step) => step !== '|')).toHaveLength(71);
  });

  it('replaces a notification that waits by a later one with its key, but not one that is being delivered', async () => {
    slowClock();
    const outcomes = ['a', 'a', 'b', 'a'].map((key, n) => deliver(key, `${n}:`, 40));
    expect(outcomes).toEqual([true, true, true, false]);
    for (let turn = 0; turn < 6; turn++) await flushPromises();
    expect(delivered.filter((step) => step.endsWith(':1'))).toEqual(['0:1', '2:1', '3:1']);
  });

  it('replaces no notification without a key', async () => {
    slowClock();
    const outcomes = [1, 2, 3].map((n) => deliver(undefined, `${n}:`, 40));
    expect(outcomes).toEqual([true, true, true]);
    for (let turn = 0; turn < 6; turn++) await flushPromises();
    expect(delivered.filter((step) => step.endsWith(':1'))).toEqual(['1:1', '2:1', '3:1']);
  });

  it.each([0, 40])(
    'continues after the recipients of a notification cannot be read, with %d before',
    async (before) => {
      slowClock();
      deliver('a', 'a', before);
      fanOut.deliver({ ...notification('bad', 'x', 1), recipients: failToRead });
      deliver('b', 'b', 1);
      await flushPromises();
      expect(delivered.at(-1)).toBe('b1');
      expect(lines.join()).toContain('no recipients');
    },
  );

  it('does not yield while too many notifications wait', async () => {
    slowClock();
    deliver('first', 'a', 1000);
    for (let n = 0; n < 10_000; n++)
      fanOut.deliver({
        ...notification(`${n}`, 'b', 0),
        createEvent: () => ({ frame: notificationFrame('b', '_other') }),
      });
    deliver('last', 'c', 1);
    expect(delivered).toHaveLength(32);
    await flushPromises();
    expect(
      delivered
        .filter((step) => step !== '|')
        .slice(0, 1000)
        .at(-1),
    ).toBe('a1000');
    expect(delivered.at(-1)).toBe('c1');
  });

  it('yields after a number of deliveries, however little time they took', async () => {
    jest.spyOn(performance, 'now').mockReturnValue(0);
    deliver('a', 'a', 1000);
    expect(delivered).toHaveLength(512);
    await flushPromises();
    expect(delivered.at(-1)).toBe('a1000');
  });

  it('continues with the next notification when one fails', async () => {
    slowClock();
    const failing = notification('a', 'a', 40);
    fanOut.deliver({
      ...failing,
      *recipients(): Generator<Recipient> {
        yield* failing.recipients() as Generator<Recipient>;
        throw new Error('oops');
      },
    });
    deliver('b', 'b', 1);
    await flushPromises();
    expect(delivered.at(-1)).toBe('b1');
    expect(lines.join()).toContain('oops');
    deliver('c', 'c', 1);
    expect(delivered.at(-1)).toBe('c1');
  });

  it('accepts a notification from a recipient of another one', () => {
    const recipient: Recipient = {
      deliver: () => {
        deliver('b', 'b', 1);
        delivered.push('a');
      },
    };
    fanOut.deliver({
      key: 'a',
      recipients: () => [recipient].values(),
      createEvent: () => ({ frame: notificationFrame('a', '_other') }),
    });
    expect(delivered).toEqual(['a', 'b1']);
  });
});
