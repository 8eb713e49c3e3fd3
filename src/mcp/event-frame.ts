import type { NotificationKind } from '../core/notification-kind.js';
import { onOneLine } from '../lib/json-text/json-text.js';
import { aroundSubscriptionId } from './envelope.js';
import { notificationHead, notificationMessage } from './json-rpc.js';

/**
 * The sequence number of the latest event of this process. A client may reconnect with an event id of the previous process,
 * which must be lower than all ids of this process. The sequence numbers therefore begin after a hundred times the start time
 * in milliseconds. This suffices as long as a process has at most a hundred events per millisecond on average.
 */
let lastSequence = Date.now() * 100;

export const latestSequence = (): number => lastSequence;

/** A message to a client: its text, or the parts of a long message. The parts contain no line breaks. */
export type OutgoingMessage = string | readonly Buffer[];

/** One server-sent event, which is encoded once and written to any number of streams. */
export interface EventFrame {
  /** The sequence number of the event. */
  readonly sequence: number;
  /** The name of the response stream that the event belongs to; empty for standalone streams, and for events without an id. */
  readonly stream: string;
  /** Approximate number of bytes; 0 for a primer (`primingFrame`). */
  readonly size: number;
  readonly bytes: Buffer;
  /** The parts of a long message, and the end of the event. They follow `bytes`. */
  readonly rest?: readonly Buffer[];
  /** The kind under which metrics count a notification; undefined for requests and responses. */
  readonly kind: NotificationKind | undefined;
}

export type EventParts = readonly [first: Buffer, ...later: readonly Buffer[]];

/** An event up to this size is copied for each listen stream, because several writes take longer than the copy. */
const MAX_COPIED_BYTES = 16_384;

/** An event with a notification for any number of sessions and listen streams. */
export interface NotificationFrame extends EventFrame {
  readonly kind: NotificationKind;
  /**
   * The event for one listen stream, in parts. It has no event id. Its `_meta` has the subscription id: the id of the request
   * that opened the stream. Everything else is encoded once for all streams.
   */
  partsFor(subscriptionId: Buffer): EventParts;
}

/** The bytes of the frame that was encoded last. In a fan-out, one frame is written to many streams in a row. */
let lastEncoded = { sequence: 0, bytes: Buffer.alloc(0) };
/** The frame that was encoded last for a listen stream. */
let lastSplit: SplitEvent & Pick<EventFrame, 'sequence'> = {
  sequence: 0,
  before: Buffer.alloc(0),
  after: Buffer.alloc(0),
};

/** An event for listen streams: the bytes before and after the subscription id. */
interface SplitEvent {
  readonly before: Buffer;
  readonly after: Buffer;
}

/**
 * An event with an id. The text is composed when the first stream writes the event, not before: while a client reads nothing,
 * its events are queued, and later events replace most of them. The frame stores text and no Buffer, because replay buffers
 * hold many frames. A Buffer takes twice the memory, and the whole pool from which it was allocated stays in memory with it.
 */
class LazyFrame implements EventFrame {
  readonly sequence = ++lastSequence;
  private text: string | undefined;

  constructor(
    readonly stream: string,
    readonly size: number,
    readonly kind: NotificationKind | undefined,
    /** Absent for an event without data, and after the text was composed. */
    private message?: () => string,
    private readonly retryMs?: number,
  ) {}

  get bytes(): Buffer {
    this.text ??= this.compose();
    if (lastEncoded.sequence !== this.sequence)
      lastEncoded = { sequence: this.sequence, bytes: Buffer.from(this.text) };
    return lastEncoded.bytes;
  }

  private compose(): string {
    const id = `id: ${eventId(this.sequence, this.stream)}\n`;
    const retry = this.retryMs === undefined ? '' : `retry: ${this.retryMs}\n`;
    const text = this.message
      ? `event: message\n${id}data: ${onOneLine(this.message())}\n\n`
      : `${id}${retry}data: \n\n`;
    this.message = undefined;
    return text;
  }
}

/** A notification. Its params are composed when the first stream writes the frame, as is the text of a `LazyFrame`. */
class SharedFrame implements NotificationFrame {
  readonly sequence = ++lastSequence;
  readonly stream = '';
  readonly size: number;
  private params: string | undefined;

  constructor(
    private readonly method: string,
    readonly kind: NotificationKind,
    paramsSize: number,
    /** Absent for a notification without params, and after the params were composed. */
    private compose?: () => string,
  ) {
    this.size = method.length + paramsSize;
  }

  get bytes(): Buffer {
    if (lastEncoded.sequence !== this.sequence)
      lastEncoded = { sequence: this.sequence, bytes: Buffer.from(this.sessionText) };
    return lastEncoded.bytes;
  }

  partsFor(subscriptionId: Buffer): EventParts {
    if (lastSplit.sequence !== this.sequence) lastSplit = { sequence: this.sequence, ...this.split() };
    const { before, after } = lastSplit;
    if (before.length + after.length > MAX_COPIED_BYTES) return [before, subscriptionId, after];
    const bytes = Buffer.allocUnsafe(before.length + subscriptionId.length + after.length);
    before.copy(bytes);
    subscriptionId.copy(bytes, before.length);
    after.copy(bytes, before.length + subscriptionId.length);
    return [bytes];
  }

  /** The text of the event for sessions. */
  private get sessionText(): string {
    const message = notificationMessage(this.method, this.composedParams);
    return `event: message\nid: ${this.sequence}\ndata: ${message}\n\n`;
  }

  private split(): SplitEvent {
    const [before, after] = aroundSubscriptionId(this.composedParams);
    return {
      before: Buffer.from(`event: message\ndata: ${notificationHead(this.method)}${before}`),
      after: Buffer.from(`${after}}\n\n`),
    };
  }

  private get composedParams(): string | undefined {
    if (this.compose) this.params = onOneLine(this.compose());
    this.compose = undefined;
    return this.params;
  }
}

/** An event with a long message. The bytes of the message are not copied: copying 16 MB takes 30 ms. */
class LongFrame implements EventFrame {
  readonly sequence = ++lastSequence;
  readonly kind = undefined;
  readonly size: number;
  readonly bytes: Buffer;
  readonly rest: readonly Buffer[];

  constructor(
    readonly stream: string,
    message: readonly Buffer[],
  ) {
    this.size = lengthOf(message);
    this.bytes = Buffer.from(`event: message\nid: ${eventId(this.sequence, stream)}\ndata: `);
    this.rest = [...message, END_OF_EVENT];
  }
}

const lengthOf = (parts: readonly Buffer[]): number => parts.reduce((sum, { length }) => sum + length, 0);

const END_OF_EVENT = Buffer.from('\n\n');
const PLAIN_HEAD = Buffer.from('event: message\ndata: ');

/** An event without an id, of a stream that cannot be resumed. */
class PlainFrame implements EventFrame {
  readonly sequence = ++lastSequence;
  readonly stream = '';

  constructor(
    readonly size: number,
    readonly kind: NotificationKind | undefined,
    readonly bytes: Buffer,
    readonly rest: readonly Buffer[] = [],
  ) {}
}

/** An event for standalone streams, or for the response stream that `stream` names (docs/decisions/0004). */
export const eventFrame = (message: string, kind?: NotificationKind, stream = ''): EventFrame =>
  new LazyFrame(stream, message.length, kind, () => message);

/** An event for a response stream, with a message in parts that contain no line breaks. */
export const longEventFrame = (message: readonly Buffer[], stream: string): EventFrame =>
  new LongFrame(stream, message);

/** `eventFrame` or `longEventFrame`, depending on the form of the message. */
export const messageFrame = (message: OutgoingMessage, kind?: NotificationKind, stream = ''): EventFrame =>
  typeof message === 'string' ? eventFrame(message, kind, stream) : longEventFrame(message, stream);

/** An event without an id. */
export const plainFrame = (message: string, kind?: NotificationKind): EventFrame =>
  new PlainFrame(message.length, kind, Buffer.from(`event: message\ndata: ${onOneLine(message)}\n\n`));

/** An event without an id, with a message in parts that contain no line breaks. */
export const longPlainFrame = (message: readonly Buffer[]): EventFrame =>
  new PlainFrame(lengthOf(message), undefined, PLAIN_HEAD, [...message, END_OF_EVENT]);

/**
 * A notification for standalone streams and listen streams. `params` is called when the first stream writes the event.
 * `paramsSize` is the approximate size of the text that `params` returns.
 */
export const notificationFrame = (
  method: string,
  kind: NotificationKind,
  paramsSize = 0,
  params?: () => string,
): NotificationFrame => new SharedFrame(method, kind, paramsSize, params);

/**
 * An event without data, which gives the client an id to resume from and, with `retryMs`, the delay before it reconnects.
 */
export const primingFrame = (stream: string, retryMs?: number): EventFrame =>
  new LazyFrame(stream, 0, undefined, undefined, retryMs);

export const isPrimer = ({ size }: EventFrame): boolean => size === 0;

const eventId = (sequence: number, stream: string): string =>
  stream ? `${sequence}.${stream}` : `${sequence}`;

/** The parts of an event id; undefined if the text does not have the form of the event ids that `eventId` returns. */
export function parseEventId(id: string): { sequence: number; stream: string } | undefined {
  const match = /^(\d{1,15})(?:\.([a-z0-9]{1,16}(?:-[A-Za-z0-9_-]{1,96})?))?$/.exec(id);
  return match ? { sequence: Number(match[1]), stream: match[2] ?? '' } : undefined;
}

/** An SSE comment. Written at intervals, it keeps proxies from closing a stream without events. */
export const KEEP_ALIVE = Buffer.from(': keep-alive\n\n');
