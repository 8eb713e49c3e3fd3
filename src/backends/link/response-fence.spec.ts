import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { advanceTime, useFakeTime } from '../../../test/kit/fake-time.js';
import { EndedCalls, ORIGIN_GRACE_MS, type ClientKey } from './ended-calls.js';
import { ResponseFence, SHARED_USE_MS } from './response-fence.js';

const CLIENTS = ['a', 'b', 'c'] as const;
const PRINCIPAL = 'p';

useFakeTime();

/** A fence, and the pings that the spec answers. Every client is of one principal. */
class FencedLink {
  readonly ended = new EndedCalls();
  readonly pings: ((isAnswered: boolean) => void)[] = [];
  hasOtherInFlight = false;
  /** How often the calls in flight were read. */
  reads = 0;
  readonly fence = new ResponseFence(
    {
      ping: (settled) => this.pings.push(settled),
      hasOtherInFlight: () => {
        this.reads++;
        return this.hasOtherInFlight;
      },
    },
    this.ended,
  );

  begin(client: ClientKey): void {
    void this.fence.callBegins(client, PRINCIPAL);
  }

  end(client: ClientKey, principal = PRINCIPAL): void {
    this.ended.add(client, principal);
    this.fence.callEnded(client, principal);
  }

  call(client: ClientKey): void {
    this.begin(client);
    this.end(client);
  }
}

describe('ResponseFence', () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ op: fc.constantFrom('begin', 'end'), client: fc.constantFrom(...CLIENTS) }),
      fc.record({ op: fc.constant('settle'), isAnswered: fc.boolean() }),
      fc.record({ op: fc.constant('wait'), ms: fc.constantFrom(1, ORIGIN_GRACE_MS - 1, ORIGIN_GRACE_MS) }),
    ),
    { maxLength: 30 },
  );

  it('counts an ended call until the response to a ping that was sent after it, or until the grace has passed', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const link = new FencedLink();
        const { fence, pings } = link;
        const ends: { client: string; at: number; ping: number }[] = [];
        const settled = new Set<number>();
        const answered: number[] = [];
        for (const step of taken) {
          if (step.op === 'begin') link.begin((step as { client: string }).client);
          else if (step.op === 'end') {
            const { client } = step as { client: string };
            // Pings with this number or a greater one are sent after the end.
            ends.push({ client, at: performance.now(), ping: pings.length });
            link.end(client);
          } else if (step.op === 'wait') await advanceTime((step as { ms: number }).ms);
          else if (settled.size < pings.length) {
            const { isAnswered } = step as { isAnswered: boolean };
            const ping = pings.length - 1;
            settled.add(ping);
            if (isAnswered) answered.push(ping);
            pings[ping]!(isAnswered);
          }
          expect(pings.length - settled.size).toBeLessThanOrEqual(1);
          for (const client of [...CLIENTS, undefined])
            expect(fence.hasOtherThan(client)).toBe(
              ends.some(
                (end) =>
                  end.client !== client &&
                  performance.now() - end.at < ORIGIN_GRACE_MS &&
                  !answered.some((ping) => ping >= end.ping),
              ),
            );
        }
      }),
      { numRuns: 300 },
    );
  });

  it('sends no ping while one client calls, and does not read the calls in flight', () => {
    const link = new FencedLink();
    for (let n = 0; n < 3; n++) link.call('a');
    expect([link.pings.length, link.reads]).toEqual([0, 0]);
  });

  it('sends a ping at the end of every call without a session', () => {
    const link = new FencedLink();
    for (const id of [1, 2]) {
      link.call(id);
      expect(link.pings).toHaveLength(id);
      link.pings.at(-1)!(true);
    }
  });

  it('sends a ping before a call that begins within the grace after a call of another client', async () => {
    const link = new FencedLink();
    link.call('a');
    await advanceTime(ORIGIN_GRACE_MS - 1);
    link.begin('b');
    expect(link.pings).toHaveLength(1);
  });

  it('sends no ping before a call that begins after the grace', async () => {
    const link = new FencedLink();
    link.call('a');
    await advanceTime(ORIGIN_GRACE_MS);
    link.begin('b');
    expect(link.pings).toHaveLength(0);
  });

  it('sends one more ping after the response if calls have ended meanwhile, and no further one', () => {
    const link = new FencedLink();
    link.begin('a');
    link.begin('b');
    for (const client of ['a', 'b', 'a', 'b']) link.end(client);
    expect(link.pings).toHaveLength(1);
    link.pings[0]!(true);
    expect(link.pings).toHaveLength(2);
    link.pings[1]!(true);
    expect([link.pings.length, link.fence.hasOtherThan(undefined)]).toEqual([2, false]);
  });

  it('sends a ping at the end of each call for a minute after another client has called', async () => {
    const link = new FencedLink();
    link.call('a');
    await advanceTime(SHARED_USE_MS);
    link.begin('b');
    await advanceTime(SHARED_USE_MS - 1);
    link.end('b');
    expect(link.pings).toHaveLength(1);
    link.pings[0]!(true);
    await advanceTime(1);
    link.call('b');
    expect(link.pings).toHaveLength(1);
  });

  it.each([
    [true, 1],
    [false, 0],
  ])(
    'after that minute, with a call of another client in flight: %s, sends %i pings',
    async (isShared, count) => {
      const link = new FencedLink();
      link.begin('a');
      link.begin('b');
      await advanceTime(SHARED_USE_MS);
      link.hasOtherInFlight = isShared;
      link.end('b');
      expect(link.pings).toHaveLength(count);
    },
  );

  it('does not read the calls in flight again after that minute until another client calls', async () => {
    const link = new FencedLink();
    link.begin('a');
    link.begin('b');
    await advanceTime(SHARED_USE_MS);
    for (let n = 0; n < 3; n++) link.call('b');
    expect(link.reads).toBe(1);
  });

  it('sends no ping within the grace after a call of another principal', async () => {
    const link = new FencedLink();
    link.call('a');
    link.end('x', 'another');
    link.begin('b');
    link.end('b');
    expect(link.pings).toHaveLength(0);
    await advanceTime(ORIGIN_GRACE_MS);
    link.call('a');
    expect(link.pings).toHaveLength(1);
  });

  it('sends no ping if the server sends messages after its responses', () => {
    const link = new FencedLink();
    link.call('a');
    link.ended.late.received(true);
    link.call('b');
    expect(link.pings).toHaveLength(0);
  });

  it('counts a call longer if messages are read late', async () => {
    const link = new FencedLink();
    link.call('a');
    await advanceTime(ORIGIN_GRACE_MS - 1);
    link.fence.renew(performance.now());
    link.begin('b');
    await advanceTime(ORIGIN_GRACE_MS - 1);
    link.fence.renew(performance.now());
    await advanceTime(ORIGIN_GRACE_MS - 1);
    expect(link.fence.hasOtherThan('b')).toBe(true);
    await advanceTime(1);
    expect(link.fence.hasOtherThan('b')).toBe(false);
  });
});
