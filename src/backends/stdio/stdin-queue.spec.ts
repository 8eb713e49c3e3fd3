import { Writable } from 'node:stream';
import { describe, expect, it, jest } from '@jest/globals';
import type { TransportError } from '../link/transport.js';
import { StdinQueue } from './stdin-queue.js';
import { STDIO_LIMITS } from './stdio-server.js';

/** A stdin that accepts a write at once or, if it is slow, when `accept` is called. */
function pipe(speed: 'fast' | 'slow') {
  const writes: string[] = [];
  const pending: ((error?: Error) => void)[] = [];
  const stdin = new Writable({
    decodeStrings: false,
    write(text: string, _encoding, accepted) {
      writes.push(text);
      if (speed === 'fast') accepted();
      else pending.push(accepted);
    },
  });
  return { stdin, writes, accept: (error?: Error) => pending.shift()?.(error) };
}

function open(speed: 'fast' | 'slow', limits = {}) {
  const stdinPipe = pipe(speed);
  const events = { blocked: jest.fn(), broken: jest.fn() };
  return {
    ...stdinPipe,
    events,
    queue: new StdinQueue(stdinPipe.stdin, { ...STDIO_LIMITS, ...limits }, events),
  };
}

const outcome = (sent: Promise<void>) =>
  sent.then(
    () => 'sent',
    (error: { fault: string }) => error.fault,
  );

const flushed = () => new Promise<void>((resolve) => process.nextTick(resolve));

describe('StdinQueue', () => {
  it('writes lines of the same tick in one write', async () => {
    const { queue, writes } = open('fast');
    await Promise.all([queue.push('1'), queue.push('2'), Promise.resolve().then(() => queue.push('3'))]);
    expect(writes).toEqual(['1\n2\n3\n']);
  });

  it('writes lines that were queued during a write in one write', async () => {
    const { queue, writes, accept } = open('slow');
    const first = queue.push('1');
    await flushed();
    const rest = [queue.push('2'), queue.push('3')];
    accept();
    await first;
    accept();
    await Promise.all(rest);
    expect(writes).toEqual(['1\n', '2\n3\n']);
  });

  it('writes pretty-printed JSON on one line', async () => {
    const { queue, writes } = open('fast');
    await queue.push('{\r\n  "text": "a\\nb"\n}');
    expect(writes).toEqual(['{    "text": "a\\nb" }\n']);
  });

  it('accepts a burst over the limit while the child reads', async () => {
    const { queue } = open('fast', { maxQueuedMessages: 4 });
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => outcome(queue.push('x'))));
    expect(new Set(outcomes)).toEqual(new Set(['sent']));
  });

  it.each([
    ['messages', { maxQueuedMessages: 4 }],
    ['bytes', { maxQueuedBytes: 12 }],
  ])('rejects lines beyond the limit of queued %s', async (_, limits) => {
    const { queue } = open('slow', limits);
    const sent = Array.from({ length: 6 }, () => outcome(queue.push('xx')));
    queue.fail('gone', 'unreachable');
    const outcomes = await Promise.all(sent);
    expect(outcomes).toHaveLength(6);
    expect(outcomes.slice(4)).toEqual(['busy', 'busy']);
  });

  it('accepts a message over the byte limit when the queue is empty', async () => {
    const { queue } = open('fast', { maxQueuedBytes: 4 });
    expect(await outcome(queue.push('much longer'))).toBe('sent');
  });

  it('fails written lines as broken and waiting lines with the given fault', async () => {
    const { queue } = open('slow');
    const written = outcome(queue.push('1'));
    await flushed();
    const waiting = outcome(queue.push('2'));
    queue.fail('gone', 'unreachable');
    expect(await Promise.all([written, waiting, outcome(queue.push('3'))])).toEqual([
      'broken',
      'unreachable',
      'unreachable',
    ]);
  });

  it('reports a write that is blocked for too long', async () => {
    const { queue, events } = open('slow', { writeTimeoutMs: 10 });
    const blocked = new Promise<string>((resolve) =>
      events.blocked.mockImplementation(() => resolve('blocked')),
    );
    const sent = outcome(queue.push('1'));
    // The queue's timer is unreferenced; a real child would keep the process running.
    const child = setTimeout(() => {}, 5_000);
    expect(await blocked).toBe('blocked');
    clearTimeout(child);
    queue.fail('killed', 'busy');
    expect(await sent).toBe('broken');
  });

  it('ends the stream after the queued lines', async () => {
    const { queue, writes, stdin } = open('fast');
    const sent = queue.push('last');
    queue.end('closed');
    expect(await outcome(queue.push('late'))).toBe('unreachable');
    await sent;
    expect(writes).toEqual(['last\n']);
    expect(stdin.writableEnded).toBe(true);
  });

  it.each<[string, (queue: StdinQueue) => void]>([
    ['the child has exited', (queue) => queue.fail('exited with code 3', 'unreachable')],
    ['it is ended', (queue) => queue.end('exited with code 3')],
  ])('reports a broken pipe and fails all lines with the reason when %s', async (_what, endWithReason) => {
    const { queue, events, accept } = open('slow');
    const lines = [queue.push('1')];
    await flushed();
    lines.push(queue.push('2'));
    const isBroken = new Promise<void>((resolve) => events.broken.mockImplementation(() => resolve()));
    accept(new Error('EPIPE'));
    await isBroken;
    lines.push(queue.push('3'));
    endWithReason(queue);
    lines.push(queue.push('4'));
    const errors = await Promise.all(lines.map((line) => line.catch((error: TransportError) => error)));
    expect(errors).toMatchObject(
      ['broken', 'unreachable', 'unreachable', 'unreachable'].map((fault) => ({
        fault,
        message: 'exited with code 3',
        details: { hasExited: true },
      })),
    );
    expect(events.broken).toHaveBeenCalledTimes(1);
  });
});
