import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { EventFrame } from '../mcp/event-frame.js';
import { ReplayBuffer } from './replay-buffer.js';

const frame = (sequence: number, size = 10, stream = ''): EventFrame => ({
  sequence,
  stream,
  size,
  bytes: Buffer.alloc(size),
});

const sequences = (frames: readonly EventFrame[]): number[] => frames.map(({ sequence }) => sequence);

describe('ReplayBuffer', () => {
  it('returns the events of one stream after a sequence number, oldest first', () => {
    const log = new ReplayBuffer(10, 1000);
    for (const [stream, sequence] of [
      ['', 1],
      ['a', 2],
      ['', 3],
      ['a', 4],
      ['', 5],
    ] as const)
      log.append(frame(sequence, 10, stream));
    expect(sequences(log.after('', 1))).toEqual([3, 5]);
    expect(sequences(log.after('a', 0))).toEqual([2, 4]);
    expect(log.after('', 5)).toEqual([]);
    expect(log.after('b', 0)).toEqual([]);
  });

  it('keeps references to frames', () => {
    const log = new ReplayBuffer(10, 1000);
    const kept = frame(1);
    log.append(kept);
    expect(log.after('', 0)[0]).toBe(kept);
  });

  it('keeps the last events within its limits of events and bytes', () => {
    fc.assert(
      fc.property(
        fc.nat(10),
        fc.nat(100),
        fc.array(fc.nat(40), { maxLength: 40 }),
        (maxEvents, maxBytes, sizes) => {
          const log = new ReplayBuffer(maxEvents, maxBytes);
          sizes.forEach((size, index) => log.append(frame(index + 1, size)));
          const kept = log.after('', 0);
          const bytes = kept.reduce((sum, { bytes: { length } }) => sum + length, 0);
          expect(kept.length).toBeLessThanOrEqual(maxEvents);
          expect(bytes).toBeLessThanOrEqual(maxBytes);
          const expected = sizes.map((_, index) => index + 1).slice(sizes.length - kept.length);
          expect(sequences(kept)).toEqual(expected);
        },
      ),
    );
  });

  it('frees the bytes of a withdrawn event', () => {
    const log = new ReplayBuffer(10, 25);
    const [first, second] = [frame(1), frame(2)];
    for (const one of [first, second]) log.append(one);
    log.withdraw(second);
    log.withdraw(second);
    log.append(frame(3));
    expect(sequences(log.after('', 0))).toEqual([1, 3]);
  });

  it('keeps nothing with a limit of zero', () => {
    const log = new ReplayBuffer(0, 1000);
    log.append(frame(1));
    expect(log.after('', 0)).toEqual([]);
  });
});
