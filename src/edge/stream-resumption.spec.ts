import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { eventFrame, parseEventId, primingFrame, type EventFrame } from '../mcp/event-frame.js';
import type { DeliverOptions } from '../mcp/mcp-context.js';
import { ReplayBuffer } from './replay-buffer.js';
import { EventStream } from './event-stream.js';

const LIMIT = 8;
const createStream = (buffer: ReplayBuffer): EventStream =>
  new EventStream('', buffer, { queuedEvents: LIMIT, stuckMs: 60_000 });

/** A response in memory that blocks and breaks on command. */
class FakeResponse extends EventEmitter {
  readonly sequences: number[] = [];
  destroyed = false;
  blocks = false;

  write(bytes: Buffer): boolean {
    const id = /^id: (\S+)$/m.exec(bytes.toString())?.[1];
    // Only the first part of a large event has an id.
    if (id !== undefined) this.sequences.push(parseEventId(id)?.sequence ?? -1);
    return !this.blocks;
  }

  end(): void {}
}

type Step =
  /** A late event has a lower number than others that were sent before: its fan-out took several slices. */
  | { action: 'send'; options: DeliverOptions; late: boolean }
  | { action: 'block' | 'drain' }
  /** The connection breaks, the given number of last events is lost, and the client resumes. */
  | { action: 'resume'; lost: number };

describe('EventStream replay', () => {
  it.each([
    ['many', 2 * LIMIT, 1],
    ['large', LIMIT - 2, 300_000],
  ])('includes new events for a slow reader, however %s the replayed events are', (_what, sent, size) => {
    const stream = createStream(new ReplayBuffer(100, 2_000_000));
    const frames = Array.from({ length: sent }, () => eventFrame('x'.repeat(size)));
    const [first, second] = [new FakeResponse(), new FakeResponse()];
    stream.connect(first as unknown as ServerResponse);
    for (const [n, frame] of frames.entries()) stream.send(frame, { coalesce: `${n}` });
    first.emit('close');
    const [meanwhile, later] = [eventFrame('{}'), eventFrame('{}')];
    stream.send(meanwhile, { coalesce: '0' });
    second.blocks = true;
    stream.connect(second as unknown as ServerResponse, frames[0]!.sequence);
    stream.send(later, { coalesce: '1' });
    second.blocks = false;
    second.emit('drain');
    const expected = [...frames.slice(1), meanwhile, later];
    expect(second.sequences).toEqual(expected.map(({ sequence }) => sequence));
  });

  it('continues after a second reconnect with events that the buffer has dropped', () => {
    const stream = createStream(new ReplayBuffer(4, 1_000_000));
    const frames = Array.from({ length: 8 }, () => eventFrame('{}'));
    const [first, second, third] = [new FakeResponse(), new FakeResponse(), new FakeResponse()];
    stream.connect(first as unknown as ServerResponse);
    for (const frame of frames.slice(0, 4)) stream.send(frame);
    first.emit('close');
    second.blocks = true;
    stream.connect(second as unknown as ServerResponse, frames[0]!.sequence);
    for (const frame of frames.slice(4)) stream.send(frame);
    second.emit('close');
    stream.connect(third as unknown as ServerResponse, frames[1]!.sequence);
    expect(third.sequences).toEqual(frames.slice(2).map(({ sequence }) => sequence));
  });

  it.each([
    ['the latest primer', 0],
    ['an earlier primer, because the latest one was lost', 1],
  ])('continues after %s with events that the buffer has dropped', (_which, lostPrimers) => {
    const stream = createStream(new ReplayBuffer(4, 1_000_000));
    const sent = Array.from({ length: 4 }, () => eventFrame('{}'));
    const first = new FakeResponse();
    stream.connect(first as unknown as ServerResponse);
    for (const frame of sent) stream.send(frame);
    first.emit('close');
    const primer = primingFrame('');
    const resume = (sequence: number, newPrimer: EventFrame, blocks: boolean): FakeResponse => {
      const response = new FakeResponse();
      response.blocks = blocks;
      stream.connect(response as unknown as ServerResponse, sequence, newPrimer);
      return response;
    };
    resume(sent[0]!.sequence, primer, true).emit('close');
    const later = Array.from({ length: 4 }, () => eventFrame('{}'));
    for (const frame of later) stream.send(frame);
    for (let count = 0; count < lostPrimers; count++)
      resume(primer.sequence, primingFrame(''), true).emit('close');
    const last = resume(primer.sequence, primingFrame(''), false);
    const expected = [...sent.slice(1), ...later].map(({ sequence }) => sequence);
    expect(last.sequences.slice(1)).toEqual(expected);
  });

  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.oneof(
      fc.record({
        action: fc.constant('send' as const),
        options: fc.constantFrom<DeliverOptions>({}, {}, { droppable: true }, { coalesce: 'a' }),
        late: fc.boolean(),
      }),
      fc.record({ action: fc.constantFrom('block' as const, 'drain' as const) }),
      fc.record({ action: fc.constant('resume' as const), lost: fc.nat(5) }),
    ),
    { maxLength: 60 },
  );

  /** Runs the steps and ends with a connection that reads everything. */
  function run(program: readonly Step[], buffer: ReplayBuffer, primer: () => EventFrame | undefined) {
    const stream = createStream(buffer);
    let late = eventFrame('{}');
    const received: number[] = [];
    const kept: number[] = [];
    const lost: number[] = [];
    let response = new FakeResponse();
    const reconnect = (lostCount: number): void => {
      // Without an event there is no id to resume from.
      const arrived = Math.max(received.length === 0 ? 1 : 0, response.sequences.length - lostCount);
      received.push(...response.sequences.slice(0, arrived));
      lost.push(...response.sequences.slice(arrived));
      response.destroyed = true;
      response.emit('close');
      response = new FakeResponse();
      stream.connect(response as unknown as ServerResponse, received.at(-1), primer());
    };
    stream.connect(response as unknown as ServerResponse, undefined, primer());
    for (const step of program) {
      if (step.action === 'send') {
        const frame = step.late ? late : eventFrame('{}');
        if (step.late) late = eventFrame('{}');
        if (!step.options.droppable && !step.options.coalesce) kept.push(frame.sequence);
        stream.send(frame, step.options);
      } else if (step.action === 'resume') reconnect(step.lost);
      else {
        response.blocks = step.action === 'block';
        if (step.action === 'drain') response.emit('drain');
      }
    }
    reconnect(0);
    received.push(...response.sequences);
    return { received, kept, lost };
  }

  const primers: [string, () => EventFrame | undefined][] = [
    ['without a primer', () => undefined],
    ['with a primer', () => primingFrame('', 3000)],
  ];

  it.each(primers)('sends every event that may not be dropped, once and in order, %s', (_which, primer) => {
    fc.assert(
      fc.property(steps, (program) => {
        const first: Step = { action: 'send', options: {}, late: false };
        const { received, kept } = run([first, ...program], new ReplayBuffer(1000, 1_000_000), primer);
        expect(new Set(received).size).toBe(received.length);
        expect(received.filter((sequence) => kept.includes(sequence))).toEqual(kept);
      }),
    );
  });

  it.each(primers)('includes queued events that the buffer has dropped, %s', (_which, primer) => {
    fc.assert(
      fc.property(steps, fc.nat(LIMIT), (program, maxEvents) => {
        const { received, kept, lost } = run(program, new ReplayBuffer(maxEvents, 1_000_000), primer);
        const missed = kept.filter((sequence) => !received.includes(sequence));
        expect(missed.filter((sequence) => !lost.includes(sequence))).toEqual([]);
      }),
    );
  });
});
