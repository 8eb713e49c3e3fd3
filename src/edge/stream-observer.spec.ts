import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { NotificationKind } from '../core/notification-kind.js';
import { eventFrame, type EventFrame } from '../mcp/event-frame.js';
import { ReplayBuffer } from './replay-buffer.js';
import { EventStream, type StreamObserver } from './event-stream.js';

const LIMIT = 3;
const STUCK_MS = 1000;
const LIMITS = { queuedEvents: LIMIT, stuckMs: STUCK_MS };
const frame = (kind?: NotificationKind): EventFrame => eventFrame('{}', kind);

/** A response whose reader is controlled by the spec. */
class Connection extends EventEmitter {
  destroyed = false;
  writableEnded = false;
  written = 0;

  constructor(private readonly isRead = true) {
    super();
  }

  write(): boolean {
    this.written++;
    return this.isRead;
  }

  end(): void {
    this.writableEnded = true;
    this.close();
  }

  destroy(): void {
    this.destroyed = true;
    this.close();
  }

  close(): void {
    this.emit('close');
  }

  get response(): ServerResponse {
    return this as unknown as ServerResponse;
  }
}

class Observed implements StreamObserver {
  readonly counted: string[] = [];
  readonly stream = new EventStream('', new ReplayBuffer(100, 1_000_000), LIMITS, this);

  countNotification(kind: string, outcome: string): void {
    this.counted.push(`${kind} ${outcome}`);
  }

  countStreamEnd(reason: string): void {
    this.counted.push(reason);
  }

  connect(connection = new Connection()): Connection {
    this.stream.connect(connection.response);
    return connection;
  }
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('StreamObserver', () => {
  it('counts written notifications, and no responses', () => {
    const observed = new Observed();
    observed.stream.send(frame('message'), { droppable: true });
    expect(observed.counted).toEqual([]);
    observed.connect();
    observed.stream.send(frame('progress'), { droppable: true });
    observed.stream.send(frame());
    expect(observed.counted).toEqual(['message written', 'progress written']);
  });

  it('counts replayed notifications as redelivered', () => {
    const observed = new Observed();
    const first = observed.connect();
    observed.stream.send(frame('message'));
    first.close();
    observed.stream.connect(new Connection().response, 0);
    expect(observed.counted).toEqual(['message written', 'left', 'message redelivered']);
  });

  it('counts coalesced notifications', () => {
    const observed = new Observed();
    for (let i = 0; i < 3; i++) observed.stream.send(frame('tools/list_changed'), { coalesce: 'tools' });
    observed.connect();
    expect(observed.counted).toEqual([
      'tools/list_changed coalesced',
      'tools/list_changed coalesced',
      'tools/list_changed written',
    ]);
  });

  it('counts dropped notifications', () => {
    const observed = new Observed();
    for (let i = 0; i < LIMIT + 2; i++) observed.stream.send(frame('message'), { droppable: true });
    expect(observed.counted).toEqual(['message dropped', 'message dropped']);
  });

  it('gets the reason why a connection ended', () => {
    const observed = new Observed();
    observed.connect().close();
    observed.connect(new Connection(false));
    observed.stream.send(frame());
    jest.advanceTimersByTime(STUCK_MS);
    observed.connect();
    observed.stream.end();
    expect(observed.counted).toEqual(['left', 'stuck', 'finished']);
  });

  it('gets one reason per connection, also for a stuck reader at the end of the stream', () => {
    const observed = new Observed();
    observed.connect(new Connection(false));
    for (let i = 0; i < 2; i++) observed.stream.send(frame());
    observed.stream.end();
    expect(observed.counted).toEqual([]);
    jest.advanceTimersByTime(STUCK_MS);
    expect(observed.counted).toEqual(['stuck']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('gets the reason of a replaced connection', () => {
    const observed = new Observed();
    const connections = Array.from({ length: 5 }, () => observed.connect());
    expect(observed.counted).toEqual(['replaced']);
    observed.stream.send(frame());
    expect(connections.map(({ written }) => written)).toEqual([0, 0, 0, 0, 1]);
  });
});
