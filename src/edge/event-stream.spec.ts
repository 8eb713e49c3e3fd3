import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { until, within } from '../../test/kit/until.js';
import { eventFrame, type EventFrame } from '../mcp/event-frame.js';
import type { NotificationOutcome } from '../metrics/metric-labels.js';
import { ReplayBuffer } from './replay-buffer.js';
import type { DeliverOptions } from '../mcp/mcp-context.js';
import { EventStream, type StreamObserver } from './event-stream.js';
import { openEventStream } from './exchange.js';

const LIMIT = 8;
/** Above the high-water mark of a response. */
const LARGE = 'x'.repeat(100_000);
/** Enough large events to fill the socket buffers of the kernel. */
const MAX_EVENTS_TO_BLOCK = 200;

const DROPPABLE: DeliverOptions = { droppable: true };

const frameOf = (n: number, filling = ''): EventFrame =>
  eventFrame(JSON.stringify({ n, filling }), 'message');
/** A stuck timeout that no test reaches. */
const LONG_STUCK_MS = 60_000;
const SHORT_STUCK_MS = 100;
const createStream = (
  buffer = new ReplayBuffer(100, 1_000_000),
  stuckMs = LONG_STUCK_MS,
  observer?: StreamObserver,
): EventStream => new EventStream('', buffer, { queuedEvents: LIMIT, stuckMs }, observer);

/** Both ends of a real connection. */
class Reader {
  private text = '';
  closed = false;

  private constructor(
    readonly socket: Socket,
    readonly response: ServerResponse,
  ) {
    socket.on('data', (bytes: Buffer) => (this.text += bytes.toString()));
    socket.once('close', () => (this.closed = true));
  }

  static async open(): Promise<Reader> {
    const server = createServer((_request, response) => {
      openEventStream(response);
      server.emit('opened', response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    onCleanup(() => {
      socket.destroy();
      server.close();
      server.closeAllConnections();
    });
    socket.on('error', () => {});
    // HTTP/1.0 has no chunked encoding, so that the text can be compared as it is.
    socket.write('GET / HTTP/1.0\r\n\r\n');
    const [response] = (await within('a request', once(server, 'opened'))) as [ServerResponse];
    return new Reader(socket, response);
  }

  /** The numbers of the complete events, in order. */
  get numbers(): number[] {
    return [...this.text.matchAll(/^data: \{"n":(\d+),"filling":"x*"\}$/gm)].map(([, n]) => Number(n));
  }

  get comments(): number {
    return this.text.split(': keep-alive\n').length - 1;
  }

  async disconnect(): Promise<void> {
    this.socket.destroy();
    await until('the server has noticed', () => this.response.destroyed);
  }

  async reads(last: number): Promise<number[]> {
    await until(`event ${last} has arrived`, () => this.numbers.at(-1) === last);
    return this.numbers;
  }
}

/** A reader that stopped reading, on a stream that is blocked by it. */
async function stuckReader(stuckMs?: number) {
  const reader = await Reader.open();
  const outcomes: NotificationOutcome[] = [];
  const stream = createStream(undefined, stuckMs, {
    countNotification: (_kind, outcome) => outcomes.push(outcome),
    countStreamEnd: () => {},
  });
  stream.connect(reader.response);
  reader.socket.pause();
  let next = 0;
  while (!reader.response.writableNeedDrain && next < MAX_EVENTS_TO_BLOCK) {
    stream.send(frameOf(next++, LARGE));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const dropped = (): number => outcomes.filter((outcome) => outcome === 'dropped').length;
  return { reader, stream, next, dropped };
}

describe('EventStream', () => {
  it('sends events in order', async () => {
    const reader = await Reader.open();
    const stream = createStream();
    stream.connect(reader.response);
    for (const n of [1, 2, 3]) stream.send(frameOf(n));
    expect(await reader.reads(3)).toEqual([1, 2, 3]);
  });

  it('sends queued events first when a client connects', async () => {
    const stream = createStream();
    stream.send(frameOf(1));
    stream.send(frameOf(2));
    const reader = await Reader.open();
    stream.connect(reader.response);
    stream.send(frameOf(3));
    expect(await reader.reads(3)).toEqual([1, 2, 3]);
  });

  it('sends on the newest connection and keeps older ones open', async () => {
    const [first, second] = [await Reader.open(), await Reader.open()];
    const stream = createStream();
    stream.connect(first.response);
    stream.send(frameOf(1));
    stream.connect(second.response);
    stream.send(frameOf(2));
    expect(await second.reads(2)).toEqual([2]);
    expect(first.numbers).toEqual([1]);
    second.socket.destroy();
    await until('the second response is destroyed', () => second.response.destroyed);
    stream.send(frameOf(3));
    expect(await first.reads(3)).toEqual([1, 3]);
    expect(stream.isConnected).toBe(true);
  });

  it('ends the oldest connection above the limit', async () => {
    const stream = createStream();
    const readers: Reader[] = [];
    for (let i = 0; i < 5; i++) readers.push(await Reader.open());
    for (const { response } of readers) stream.connect(response);
    await until('the oldest has ended', () => readers[0]!.response.writableFinished);
    expect(readers.slice(1).some(({ response }) => response.writableEnded)).toBe(false);
    stream.end();
    await until('all have ended', () => readers.every(({ response }) => response.writableFinished));
  });

  it('ignores a response that is already destroyed', async () => {
    const reader = await Reader.open();
    reader.socket.destroy();
    await until('the response is destroyed', () => reader.response.destroyed);
    const stream = createStream();
    stream.connect(reader.response);
    expect(stream.isConnected).toBe(false);
    stream.send(frameOf(1));
    const next = await Reader.open();
    stream.connect(next.response);
    expect(await next.reads(1)).toEqual([1]);
  });

  it('removes withdrawn events from queue and replay, and counts them', async () => {
    const outcomes: NotificationOutcome[] = [];
    const observer = {
      countNotification: (_: string, outcome: NotificationOutcome) => outcomes.push(outcome),
    };
    const stream = createStream(undefined, LONG_STUCK_MS, { ...observer, countStreamEnd: () => {} });
    for (const n of [1, 2, 3]) stream.send(frameOf(n), { ...DROPPABLE, server: n === 2 ? 'db' : 'git' });
    stream.withdraw(({ server }) => server === 'db');
    expect(outcomes).toEqual(['dropped']);
    for (const resumeAfter of [undefined, 0]) {
      const reader = await Reader.open();
      stream.connect(reader.response, resumeAfter);
      await until('the other events have arrived', () => reader.numbers.length === 2);
      expect(reader.numbers).toEqual([1, 3]);
    }
  });

  it('queues events while no client is connected', async () => {
    const reader = await Reader.open();
    const stream = createStream();
    stream.connect(reader.response);
    reader.socket.destroy();
    await until('the stream is not connected', () => !stream.isConnected);
    stream.send(frameOf(1));
    const next = await Reader.open();
    stream.connect(next.response);
    expect(await next.reads(1)).toEqual([1]);
  });

  it('writes keep-alive comments only to open connections', async () => {
    const stream = createStream();
    stream.keepAlive();
    const reader = await Reader.open();
    stream.connect(reader.response);
    stream.keepAlive();
    stream.send(frameOf(1));
    await reader.reads(1);
    expect(reader.comments).toBe(1);
  });

  it('sends its queue before it ends the connection', async () => {
    const stream = createStream();
    stream.send(frameOf(1));
    stream.end();
    const reader = await Reader.open();
    stream.connect(reader.response);
    expect(await reader.reads(1)).toEqual([1]);
    await until('the response has ended', () => reader.response.writableFinished);
    expect(stream.isDone).toBe(true);
  });

  it('writes nothing after its end', async () => {
    const reader = await Reader.open();
    const errors: Error[] = [];
    reader.response.on('error', (error) => errors.push(error));
    const stream = createStream();
    stream.connect(reader.response);
    stream.send(frameOf(1));
    stream.end();
    stream.send(frameOf(2));
    stream.keepAlive();
    await until('the response has ended', () => reader.response.writableFinished);
    expect(await reader.reads(1)).toEqual([1]);
    expect(errors).toEqual([]);
  });

  it('is done after its end without a connection', () => {
    const buffer = new ReplayBuffer(10, 1000);
    const stream = createStream(buffer);
    stream.send(frameOf(1));
    expect(stream.isDone).toBe(false);
    stream.end();
    expect(stream.isDone).toBe(true);
    expect(buffer.after('', 0)).toHaveLength(1);
  });
});

describe('EventStream with a slow reader', () => {
  it('drops the oldest droppable events of a full queue and counts them', async () => {
    const { reader, stream, next, dropped } = await stuckReader();
    for (let n = next; n < next + 1000; n++) stream.send(frameOf(n), DROPPABLE);
    expect(dropped()).toBe(1000 - LIMIT);
    reader.socket.resume();
    const last = next + 999;
    const numbers = await reader.reads(last);
    expect(numbers.slice(-LIMIT)).toEqual(Array.from({ length: LIMIT }, (_, n) => last - LIMIT + 1 + n));
    expect(numbers).toHaveLength(next + LIMIT);
  });

  it('coalesces queued events with the same key', async () => {
    const { reader, stream, next, dropped } = await stuckReader();
    for (let n = next; n < next + 1000; n++) stream.send(frameOf(n), { coalesce: n % 2 ? 'odd' : 'even' });
    expect(dropped()).toBe(0);
    reader.socket.resume();
    const numbers = await reader.reads(next + 999);
    expect(numbers.slice(next)).toEqual([next + 998, next + 999]);
  });

  it('drops droppable events before coalesced ones, and never others', async () => {
    const { reader, stream, next } = await stuckReader();
    stream.send(frameOf(next), {});
    stream.send(frameOf(next + 1), { coalesce: 'list' });
    for (let n = 0; n < 100; n++) stream.send(frameOf(next + 2 + n), { droppable: true });
    stream.send(frameOf(next + 102), {});
    reader.socket.resume();
    const numbers = await reader.reads(next + 102);
    expect(numbers.slice(next, next + 2)).toEqual([next, next + 1]);
    expect(numbers).toHaveLength(next + LIMIT);
  });

  it('refuses requests while as many events as the limit wait that must not be dropped, but no answer', async () => {
    const { stream, reader } = await stuckReader();
    const accepted = Array.from({ length: LIMIT + 2 }, (_, n) =>
      stream.send(frameOf(1000 + n), { refusable: true }),
    );
    expect(accepted.filter(Boolean)).toHaveLength(LIMIT);
    expect(stream.send(frameOf(2000))).toBe(true);
    reader.socket.resume();
    await reader.reads(2000);
    expect(stream.send(frameOf(2001), { refusable: true })).toBe(true);
  });

  it('refuses requests above sixteen megabytes, except the first', async () => {
    const { stream } = await stuckReader();
    const large = eventFrame('x'.repeat(17_000_000));
    expect([1, 2].map(() => stream.send(large, { refusable: true }))).toEqual([true, false]);
  });

  it('counts the bytes that wait, until they are written or discarded', async () => {
    let unread = 0;
    const counter = { add: (bytes: number) => (unread += bytes) };
    const limits = { queuedEvents: LIMIT, stuckMs: LONG_STUCK_MS };
    const stream = new EventStream('', new ReplayBuffer(100, 1_000_000), limits, undefined, counter);
    const reader = await Reader.open();
    reader.socket.pause();
    stream.connect(reader.response);
    stream.send(eventFrame('x'.repeat(20_000_000)));
    expect(unread).toBeGreaterThan(10_000_000);
    const written = unread;
    stream.send(frameOf(1));
    expect(unread).toBe(written + frameOf(1).size);
    reader.socket.resume();
    await reader.reads(1);
    expect(unread).toBe(0);
    await reader.disconnect();
    stream.send(frameOf(2));
    expect(unread).toBe(frameOf(2).size);
    stream.discardQueue();
    expect(unread).toBe(0);
  });

  it('reports each event as sent when it is written, or when no connection is left', async () => {
    const { stream, reader } = await stuckReader();
    const sent: number[] = [];
    const send = (n: number): unknown => stream.send(frameOf(n), { onSent: () => sent.push(n) });
    send(1001);
    expect(sent).toEqual([]);
    reader.socket.resume();
    await reader.reads(1001);
    expect(sent).toEqual([1001]);
    send(1002);
    expect(sent).toEqual([1001, 1002]);
    await reader.disconnect();
    send(1003);
    expect(sent).toEqual([1001, 1002, 1003]);
    const blocked = await stuckReader();
    blocked.stream.send(frameOf(1004), { onSent: () => sent.push(1004) });
    expect(sent).not.toContain(1004);
    await blocked.reader.disconnect();
    expect(sent).toContain(1004);
  });

  it('queues at most one megabyte of droppable events', async () => {
    const { stream, next, dropped } = await stuckReader();
    for (let n = 0; n < 100; n++) stream.send(frameOf(next + n, LARGE.repeat(2)), DROPPABLE);
    expect(dropped()).toBe(100 - 5);
  });

  it('destroys the connection when nothing is read for too long', async () => {
    const { reader, stream } = await stuckReader(SHORT_STUCK_MS);
    await until('the stream is not connected', () => !stream.isConnected);
    expect(reader.response.destroyed).toBe(true);
  });

  it.each([
    ['no event is queued', 0],
    ['events are queued', 3],
  ])('destroys the connection after the end of the stream when %s', async (_when, waiting) => {
    const { reader, stream, next } = await stuckReader(SHORT_STUCK_MS);
    for (let n = 0; n < waiting; n++) stream.send(frameOf(next + n));
    stream.end();
    await until('the stream is not connected', () => !stream.isConnected);
    expect(reader.response.destroyed).toBe(true);
    expect(stream.isDone).toBe(true);
  });

  it('destroys a stuck connection that was replaced', async () => {
    const { reader, stream } = await stuckReader(SHORT_STUCK_MS);
    for (let i = 0; i < 4; i++) stream.connect((await Reader.open()).response);
    await until('the response is destroyed', () => reader.response.destroyed);
    expect(stream.isConnected).toBe(true);
  });

  it('sends everything to a reader that continues after the end', async () => {
    const { reader, stream, next } = await stuckReader();
    for (let n = 0; n < 3; n++) stream.send(frameOf(next + n, LARGE));
    stream.end();
    reader.socket.resume();
    expect(await reader.reads(next + 2)).toHaveLength(next + 3);
    await until('the response has ended', () => reader.response.writableFinished);
  });

  it('does not delay other streams', async () => {
    const { stream: stuck, next } = await stuckReader();
    const reader = await Reader.open();
    const other = createStream();
    other.connect(reader.response);
    for (let n = next; n < next + 300; n++) {
      const frame = frameOf(n);
      for (const stream of [stuck, other]) stream.send(frame, { droppable: true });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await reader.reads(next + 299)).toHaveLength(300);
  });
});
