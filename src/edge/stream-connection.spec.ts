import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { IterationBudget } from '../lib/slices/iteration-budget.js';
import { StreamConnection } from './stream-connection.js';

const STUCK_MS = 1000;
/** Above the size of one write. */
const LARGE = Buffer.from('abcdefgh'.repeat(20_000));

/** A response whose reader is controlled by the spec. */
class SlowResponse extends EventEmitter {
  text = '';
  writableEnded = false;
  destroyed = false;

  write(bytes: Buffer): boolean {
    this.text += bytes.toString();
    return false;
  }

  end(): void {
    this.writableEnded = true;
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }

  /** Reads everything just before the stuck timeout. */
  readAll(): void {
    jest.advanceTimersByTime(STUCK_MS - 1);
    this.emit(this.writableEnded ? 'close' : 'drain');
  }
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('StreamConnection', () => {
  let response: SlowResponse;
  let connection: StreamConnection;
  let events: string[];

  let budget: IterationBudget;

  const connect = (to: SlowResponse): StreamConnection =>
    new StreamConnection(
      to as unknown as ServerResponse,
      STUCK_MS,
      { drained: () => events.push('drained'), closed: () => events.push('closed') },
      budget,
    );

  beforeEach(() => {
    events = [];
    budget = new IterationBudget(4);
    response = new SlowResponse();
    connection = connect(response);
  });

  it('writes an event of several buffers in order, and ends after the last', () => {
    const [head, tail] = [Buffer.from('head '), Buffer.from(' tail')];
    connection.write(head, [LARGE, tail]);
    expect(connection.unwrittenBytes).toBe(LARGE.length + tail.length);
    connection.end();
    expect(response.writableEnded).toBe(false);
    while (!response.writableEnded) response.readAll();
    expect(response.text).toBe(`head ${LARGE.toString()} tail`);
    expect(connection.unwrittenBytes).toBe(0);
  });

  it('lets other work run after each megabyte of a large event, however fast the client reads', () => {
    const event = Buffer.alloc(2_500_000, 'x');
    connection.write(event);
    const turns: number[] = [];
    for (let before = 0; response.text.length < event.length; before = response.text.length) {
      // One 'drain' follows each write.
      for (let written = -1; written < response.text.length; response.emit('drain'))
        written = response.text.length;
      turns.push(response.text.length - before);
      expect(connection.isBlocked).toBe(response.text.length < event.length);
      jest.advanceTimersToNextTimer();
    }
    expect(turns.every((bytes) => bytes <= 1_048_576 + 65_536)).toBe(true);
    expect(turns).toHaveLength(3);
  });

  it('lets other work run after each megabyte of large events on many connections', () => {
    const responses = Array.from({ length: 20 }, () => new SlowResponse());
    for (const each of responses) connect(each).write(Buffer.alloc(250_000, 'x'));
    const total = (): number => responses.reduce((sum, { text }) => sum + text.length, 0);
    const turns: number[] = [];
    for (let before = total(); total() < 20 * 250_000; before = total()) {
      for (let written = -1; written < total();) {
        written = total();
        for (const each of responses) each.emit('drain');
      }
      jest.advanceTimersToNextTimer();
      turns.push(total() - before);
    }
    expect(Math.max(...turns)).toBeLessThanOrEqual(2 * (1_048_576 + 65_536));
    expect(turns.length).toBeGreaterThan(2);
  });

  it('is ready for the next event at once when its client has read one of less than a megabyte', () => {
    for (let event = 0; event < 20; event++) {
      connection.write(LARGE);
      for (let drain = 0; drain < 3; drain++) response.emit('drain');
      expect(connection.isBlocked).toBe(false);
      // The next iteration of the event loop.
      jest.advanceTimersToNextTimer();
    }
    expect(response.text.length).toBe(20 * LARGE.length);
  });

  it('writes no more when the client disconnects meanwhile', () => {
    connection.write(Buffer.alloc(2_500_000, 'x'));
    for (let drain = 0; drain < 20; drain++) response.emit('drain');
    const written = response.text.length;
    response.destroy();
    jest.runAllTimers();
    expect([response.text.length, events]).toEqual([written, ['closed']]);
  });

  it('writes a large event in parts and is blocked until all is written', () => {
    connection.write(LARGE);
    const written = [response.text.length];
    while (connection.isBlocked) {
      expect(events).toEqual([]);
      response.readAll();
      written.push(response.text.length);
    }
    expect(written).toEqual([65_536, 131_072, 160_000, 160_000]);
    expect(response.text).toBe(LARGE.toString());
    expect(events).toEqual(['drained']);
  });

  it('ends after a slow reader has read the last event', () => {
    connection.write(LARGE);
    connection.end();
    const ended: boolean[] = [];
    for (let n = 0; n < 4; n++) {
      ended.push(connection.isEnded);
      response.readAll();
    }
    expect(ended).toEqual([false, false, false, true]);
    expect(response.text).toBe(LARGE.toString());
    expect(events).toEqual(['closed']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it.each(['is open', 'ends'])('that %s is destroyed when nothing is read', (state) => {
    connection.write(LARGE);
    if (state === 'ends') connection.end();
    response.readAll();
    jest.advanceTimersByTime(STUCK_MS - 1);
    expect(response.destroyed).toBe(false);
    jest.advanceTimersByTime(1);
    expect(response.destroyed).toBe(true);
    expect(connection.isStuck).toBe(true);
    expect(events).toEqual(['closed']);
  });

  it('is destroyed when the end is not read', () => {
    connection.end();
    connection.end();
    jest.advanceTimersByTime(STUCK_MS);
    expect(response.destroyed).toBe(true);
  });
});
