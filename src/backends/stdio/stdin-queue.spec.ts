import { Writable } from 'node:stream';
import { describe, expect, it, jest } from '@jest/globals';
import { StdinQueue } from './stdin-queue.js';
import { STDIO_LIMITS } from './stdio-server.js';

/** A stdin whose reader takes a write only when told to, or at once. */
function pipe(takesAtOnce: boolean) {
  const writes: string[] = [];
  const untaken: ((error?: Error) => void)[] = [];
  const stdin = new Writable({
    decodeStrings: false,
    write(text: string, _encoding, taken) {
      writes.push(text);
      if (takesAtOnce) taken();
      else untaken.push(taken);
    },
  });
  return { stdin, writes, take: (error?: Error) => untaken.shift()?.(error) };
}

function open(takesAtOnce: boolean, limits = {}) {
  const wire = pipe(takesAtOnce);
  const on = { stuck: jest.fn(), broken: jest.fn() };
  return { ...wire, on, queue: new StdinQueue(wire.stdin, { ...STDIO_LIMITS, ...limits }, on) };
}

const outcome = (sent: Promise<void>) =>
  sent.then(
    () => 'sent',
    (error: { fault: string }) => error.fault,
  );

const flushed = () => new Promise<void>((resolve) => process.nextTick(resolve));

describe('StdinQueue', () => {
  it('sends what is ready at the same time in one write', async () => {
    const { queue, writes } = open(true);
    await Promise.all([queue.push('1'), queue.push('2'), Promise.resolve().then(() => queue.push('3'))]);
    expect(writes).toEqual(['1\n2\n3\n']);
  });

  it('joins what came while a write was under way', async () => {
    const { queue, writes, take } = open(false);
    const first = queue.push('1');
    await flushed();
    const rest = [queue.push('2'), queue.push('3')];
    take();
    await first;
    take();
    await Promise.all(rest);
    expect(writes).toEqual(['1\n', '2\n3\n']);
  });

  it('writes pretty-printed JSON on one line', async () => {
    const { queue, writes } = open(true);
    await queue.push('{\r\n  "text": "a\\nb"\n}');
    expect(writes).toEqual(['{    "text": "a\\nb" }\n']);
  });

  it('takes any burst while the child reads', async () => {
    const { queue } = open(true, { maxQueuedMessages: 4 });
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => outcome(queue.push('x'))));
    expect(new Set(outcomes)).toEqual(new Set(['sent']));
  });

  it.each([
    ['messages', { maxQueuedMessages: 4 }],
    ['bytes', { maxQueuedBytes: 12 }],
  ])('refuses beyond the limit of %s that wait', async (_, limits) => {
    const { queue } = open(false, limits);
    const sent = Array.from({ length: 6 }, () => outcome(queue.push('xx')));
    queue.fail('gone', 'unreachable');
    const outcomes = await Promise.all(sent);
    expect(outcomes).toHaveLength(6);
    expect(outcomes.slice(4)).toEqual(['busy', 'busy']);
  });

  it('takes one message of any size when nothing waits', async () => {
    const { queue } = open(true, { maxQueuedBytes: 4 });
    expect(await outcome(queue.push('much longer'))).toBe('sent');
  });

  it('tells what may have been read from what was not, when the child is gone', async () => {
    const { queue } = open(false);
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

  it('says when a write is not taken in time', async () => {
    const { queue, on } = open(false, { writeTimeoutMs: 10 });
    const stuck = new Promise<string>((resolve) => on.stuck.mockImplementation(() => resolve('stuck')));
    const sent = outcome(queue.push('1'));
    // The queue's own timer does not keep a process alive: the child does, who is missing here.
    const child = setTimeout(() => {}, 5_000);
    expect(await stuck).toBe('stuck');
    clearTimeout(child);
    queue.fail('killed', 'busy');
    expect(await sent).toBe('broken');
  });

  it('ends the stream after what was already sent', async () => {
    const { queue, writes, stdin } = open(true);
    const sent = queue.push('last');
    queue.end('closed');
    expect(await outcome(queue.push('late'))).toBe('unreachable');
    await sent;
    expect(writes).toEqual(['last\n']);
    expect(stdin.writableEnded).toBe(true);
  });

  it('survives a broken pipe and says so', async () => {
    const { queue, on, take } = open(false);
    const written = outcome(queue.push('1'));
    await flushed();
    const waiting = outcome(queue.push('2'));
    take(new Error('EPIPE'));
    expect(await Promise.all([written, waiting])).toEqual(['broken', 'unreachable']);
    expect(on.broken).toHaveBeenCalledTimes(1);
  });
});
