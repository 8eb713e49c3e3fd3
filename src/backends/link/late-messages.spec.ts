import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { advanceTime, useFakeTime } from '../../../test/kit/fake-time.js';
import { LATE_MESSAGE_MS, LATE_MESSAGES_IN_ROW, LateMessages } from './late-messages.js';

useFakeTime();

describe('LateMessages', () => {
  it('are expected from the first message shortly after a response on', async () => {
    const late = new LateMessages();
    late.callEnded(performance.now());
    await advanceTime(LATE_MESSAGE_MS - 1);
    expect([late.areExpected, late.received(true), late.areExpected]).toEqual([false, true, true]);
    expect(late.received(true)).toBe(false);
  });

  it('are not expected after a message at a longer time after a response', async () => {
    const late = new LateMessages();
    late.callEnded(performance.now());
    await advanceTime(LATE_MESSAGE_MS);
    expect([late.received(true), late.areExpected]).toEqual([false, false]);
  });

  it('are expected after the last call, also if calls are added in another order than that in which they ended', () => {
    const late = new LateMessages();
    late.callEnded(performance.now());
    late.callEnded(performance.now() - LATE_MESSAGE_MS);
    expect(late.received(true)).toBe(true);
  });

  it('are still expected after a message that belongs to no call', () => {
    const late = new LateMessages();
    late.callEnded(performance.now());
    late.received(true);
    late.received(false);
    expect(late.areExpected).toBe(true);
  });

  /** `call`: a call ends. `late`: a message follows at once. `unprompted`: a message that belongs to no call. */
  const events = fc.array(fc.constantFrom('call', 'late', 'unprompted'), { maxLength: 20 });

  it('are expected from a server that sends unprompted messages too only after several calls in a row', () => {
    fc.assert(
      fc.property(events, (followed) => {
        const late = new LateMessages();
        late.received(false);
        let calls = 0;
        /** The calls that were followed by a message since the last unprompted message. */
        let inRow = new Set<number>();
        let expected = false;
        for (const event of ['call', ...followed]) {
          if (event === 'call') late.callEnded(performance.now() + ++calls / 1000);
          else if (event === 'late') inRow.add(calls);
          else inRow = new Set();
          if (event !== 'call') late.received(event === 'late');
          expected ||= inRow.size >= LATE_MESSAGES_IN_ROW;
          // A call counts once, also if an unprompted message came between two messages after it.
          if (event === 'unprompted') calls++;
          if (event === 'unprompted') late.callEnded(performance.now() + calls / 1000);
          expect(late.areExpected).toBe(expected);
        }
      }),
    );
  });
});
