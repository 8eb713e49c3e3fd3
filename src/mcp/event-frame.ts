import type { NotificationKind } from '../core/notification-kind.js';
import { onOneLine } from '../lib/json-text/json-text.js';
import { aroundSubscriptionId } from './envelope.js';
import { notificationHead, notificationMessage } from './json-rpc.js';

/**
 * Starts at the current time, so that event ids of this process are above those of the previous process: clients may
 * reconnect with either. This holds for up to a hundred events per millisecond on average.
 */
let lastSequence = Date.now() * 100;

export const latestSequence = (): number => lastSequence;

/** One server-sent event, encoded once and written to any number of streams. */
export interface EventFrame {
  readonly sequence: number;
  /** The name of the response stream that the event belongs to; empty for standalone streams. */
  readonly stream: string;
  /** Approximate number of bytes; 0 for a primer. */
  readonly size: number;
  readonly bytes: Buffer;
  /** What follows `bytes`: the parts of a long message. */
  readonly rest?: readonly Buffer[];
  /** The kind under which metrics count a notification; undefined for requests and responses. */
  readonly kind: NotificationKind | undefined;
}

/** An event with a notification, which any number of sessions and listen streams get. */
export interface NotificationFrame extends EventFrame {
  readonly kind: NotificationKind;
  /**
   * The event for a listen stream: without an event id, and with the id of its request in `_meta`. The rest is encoded once
   * for all streams.
   */
  bytesFor(subscriptionId: Buffer): Buffer;
}

/** The frame that was encoded last. In a fan-out, one frame is written to many streams in a row. */
let lastEncoded = { sequence: 0, bytes: Buffer.alloc(0) };
/** The same for listen streams: the parts before and after the id of the stream. */
let lastSplit: SplitEvent & Pick<EventFrame, 'sequence'> = {
  sequence: 0,
  before: Buffer.alloc(0),
  after: Buffer.alloc(0),
};

interface SplitEvent {
  readonly before: Buffer;
  readonly after: Buffer;
}

/**
 * The text is composed when the first stream writes the frame: while a client reads nothing, most events are replaced
 * before they are written. The frame stores text and no Buffer, because replay buffers hold many frames, and a Buffer takes
 * twice the memory and retains the pool that it is a part of.
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
    const text = this.message
      ? `event: message\n${id}data: ${onOneLine(this.message())}\n\n`
      : `${id}${this.retryMs === undefined ? '' : `retry: ${this.retryMs}\n`}data: \n\n`;
    this.message = undefined;
    return text;
  }
}

/** A notification. Like the text of other frames, its params are composed when the first stream writes the frame. */
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

  bytesFor(subscriptionId: Buffer): Buffer {
    if (lastSplit.sequence !== this.sequence) lastSplit = { sequence: this.sequence, ...this.split() };
    const { before, after } = lastSplit;
    const bytes = Buffer.allocUnsafe(before.length + subscriptionId.length + after.length);
    before.copy(bytes);
    subscriptionId.copy(bytes, before.length);
    after.copy(bytes, before.length + subscriptionId.length);
    return bytes;
  }

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

/** An event with a long message, which is on one line. Its bytes are not copied: copying 16 MB takes 30 ms. */
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
    this.size = message.reduce((sum, { length }) => sum + length, 0);
    this.bytes = Buffer.from(`event: message\nid: ${eventId(this.sequence, stream)}\ndata: `);
    this.rest = [...message, END_OF_EVENT];
  }
}

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

/** An event for a response stream with a message in parts, which are on one line. */
export const longEventFrame = (message: readonly Buffer[], stream: string): EventFrame =>
  new LongFrame(stream, message);

export const plainFrame = (message: string, kind?: NotificationKind): EventFrame =>
  new PlainFrame(message.length, kind, Buffer.from(`event: message\ndata: ${onOneLine(message)}\n\n`));

/** An event without an id, with a message in parts, which are on one line. */
export const longPlainFrame = (message: readonly Buffer[]): EventFrame =>
  new PlainFrame(
    message.reduce((sum, { length }) => sum + length, 0),
    undefined,
    PLAIN_HEAD,
    [...message, END_OF_EVENT],
  );

/** A notification for standalone streams and listen streams. Its params, of about this size, are composed when it is sent. */
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

/** Undefined when the text is not an event id of a gateway. */
export function parseEventId(id: string): { sequence: number; stream: string } | undefined {
  const match = /^(\d{1,15})(?:\.([a-z0-9]{1,16}(?:-[A-Za-z0-9_-]{1,96})?))?$/.exec(id);
  return match ? { sequence: Number(match[1]), stream: match[2] ?? '' } : undefined;
}

/** A comment (SSE) that keeps proxies from closing a quiet stream. */
export const KEEP_ALIVE = Buffer.from(': keep-alive\n\n');
