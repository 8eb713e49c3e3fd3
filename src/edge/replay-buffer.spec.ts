import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { EventFrame } from '../mcp/event-frame.js';
import { ReplayBuffer } from './replay-buffer.js';

const frame = (sequence: number, size = 10, stream = ''): EventFrame => ({
  sequence,
  stream,
  size,
  bytes: Buffer.alloc(size),
  kind: undefined,
});

const sequences = (frames: readonly EventFrame[]): number[] => frames.map(({ sequence }) => sequence);

describe('ReplayBuffer', () => {
  it('returns the events of one stream after a sequence number, oldest first', () => {
    const buffer = new ReplayBuffer(10, 1000);
    for (const [stream, sequence] of [
      ['', 1],
      ['a', 2],
      ['', 3],
      ['a', 4],
      ['', 5],
    ] as const)
      buffer.append(frame(sequence, 10, stream));
    expect(sequences(buffer.after('', 1))).toEqual([3, 5]);
    expect(sequences(buffer.after('a', 0))).toEqual([2, 4]);
    expect(buffer.after('', 5)).toEqual([]);
    expect(buffer.after('b', 0)).toEqual([]);
  });

  it('keeps references to frames', () => {
    const buffer = new ReplayBuffer(10, 1000);
    const kept = frame(1);
    buffer.append(kept);
    expect(buffer.after('', 0)[0]).toBe(kept);
  });

  it('keeps the last events within its limits of events and bytes', () => {
    fc.assert(
      fc.property(
        fc.nat(10),
        fc.nat(100),
        fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 40 }),
        (maxEvents, maxBytes, sizes) => {
          const buffer = new ReplayBuffer(maxEvents, maxBytes);
          sizes.forEach((size, index) => buffer.append(frame(index + 1, size)));
          const kept = buffer.after('', 0);
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
    const buffer = new ReplayBuffer(10, 25);
    const [first, second] = [frame(1), frame(2)];
    for (const one of [first, second]) buffer.append(one);
    buffer.withdraw(second);
    buffer.withdraw(second);
    buffer.append(frame(3));
    expect(sequences(buffer.after('', 0))).toEqual([1, 3]);
  });

  it('keeps at most two primers of a stream: the new one and the one that the client resumed from', () => {
    const buffer = new ReplayBuffer(4, 1000);
    for (const sequence of [1, 2]) buffer.append(frame(sequence));
    for (let primer = 3; primer < 20; primer++) buffer.insertPrimer(frame(primer, 0), undefined, primer - 1);
    expect(sequences(buffer.after('', 0))).toEqual([1, 2]);
  });

  it.each([
    ['after an event was dropped', [1, 2], 3, [2, 4, 5]],
    ['before any event was dropped', [1], 2, [1, 3, 4]],
  ])('returns the events after a primer that was dropped %s', (_when, appended, primer, expected) => {
    const buffer = new ReplayBuffer(3, 1000);
    const frames = appended.map((sequence) => frame(sequence));
    for (const one of frames) buffer.append(one);
    // The last event was not sent yet, so the primer is inserted before it although its number is higher.
    buffer.insertPrimer(frame(primer, 0), frames.at(-1), undefined);
    for (const sequence of [primer + 1, primer + 2]) buffer.append(frame(sequence));
    expect(buffer.has(primer)).toBe(false);
    expect(buffer.isCompleteAfter(primer)).toBe(true);
    expect(sequences(buffer.after('', primer))).toEqual(expected);
  });

  it('is not complete after a dropped primer that another dropped primer followed', () => {
    const buffer = new ReplayBuffer(3, 1000);
    const unsent = frame(1);
    buffer.append(unsent);
    buffer.insertPrimer(frame(2, 0), unsent, undefined);
    buffer.insertPrimer(frame(3, 0), unsent, 2);
    for (const sequence of [4, 5]) buffer.append(frame(sequence));
    expect(sequences(buffer.after('', 0))).toEqual([1, 4, 5]);
    expect(buffer.isCompleteAfter(3)).toBe(true);
    expect(buffer.isCompleteAfter(2)).toBe(false);
  });

  it('keeps nothing with a limit of zero', () => {
    const buffer = new ReplayBuffer(0, 1000);
    buffer.append(frame(1));
    expect(buffer.after('', 0)).toEqual([]);
  });
});
