import type { ServerResponse } from 'node:http';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { NotificationKind } from '../core/notification-kind.js';
import { onOneLine, type SharedJson } from '../lib/json-text/json-text.js';
import { oneLineSteps } from '../lib/json-text/scanned-object.js';
import { runSliced } from '../lib/slices/run-sliced.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { eventFrame, longEventFrame, messageFrame, type OutgoingMessage } from '../mcp/event-frame.js';
import { resultHead } from '../mcp/json-rpc.js';
import type { DeliverOptions } from '../mcp/mcp-context.js';
import type { Revision } from '../mcp/revisions/revision.js';
import type { EventStream } from './event-stream.js';
import { lengthOf, writeJson, writeParts } from './response-writer.js';
import type { UnreadResponses } from './unread-responses.js';

/** The part of a session that an exchange uses. */
export interface ExchangeSession {
  readonly revision: Revision;
  readonly unread: Pick<UnreadResponses, 'add' | 'watch'>;
  readonly streams: {
    /** Opens the response stream of a request, or of a batch if `requestId` is undefined. The client can resume it. */
    open(requestId?: RequestId): EventStream;
    removeIfDone(stream: EventStream): void;
  };
}

const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** Sends the headers of an event stream. */
export function openEventStream(response: ServerResponse): void {
  response.writeHead(200, STREAM_HEADERS);
  response.flushHeaders();
}

/**
 * Responds to one POST with JSON. Responds with an event stream instead if another message has to be sent before the
 * result, or if the result takes long. The client can resume the stream on another connection.
 */
export class Exchange {
  /** The answers of a batch that are not written yet. Each is one message on one line, in one or more parts. */
  private readonly answers: (readonly Buffer[])[] = [];
  /** Called when `answers` have been written. */
  private readonly writtenListeners: (() => void)[] = [];
  private stream: EventStream | undefined;
  readonly startedAt = performance.now();

  constructor(
    private readonly response: ServerResponse,
    private readonly session: ExchangeSession,
    /** Undefined for a batch. */
    private readonly requestId: RequestId | undefined,
    /** Number of messages that still need an answer. */
    private unansweredCount = 1,
  ) {}

  /** `messageCount` is the number of messages in the batch that need an answer. */
  static ofBatch(response: ServerResponse, session: ExchangeSession, messageCount: number): Exchange {
    return new Exchange(response, session, undefined, messageCount);
  }

  get isAnswered(): boolean {
    return this.unansweredCount === 0;
  }

  /**
   * Sends a request or notification to the client before the result. `kind` is the kind of a notification. Returns
   * false if the exchange is answered already, or if the stream refuses the message.
   */
  send(message: OutgoingMessage, options?: DeliverOptions, kind?: NotificationKind): boolean {
    if (this.isAnswered) return false;
    const stream = this.switchToStream();
    return stream.send(messageFrame(message, kind, stream.name), options);
  }

  /** Answers one request. `onWritten` is called when the answer has been written, or when the connection is lost. */
  answer(message: string, onWritten?: () => void): void {
    this.unansweredCount--;
    if (this.stream) {
      this.stream.send(eventFrame(message, undefined, this.stream.name), { onSent: onWritten });
      if (this.isAnswered) this.endStream(this.stream);
      return;
    }
    const { response, session } = this;
    if (this.requestId !== undefined) {
      setImmediate(writeJson, response, message, session.unread, onWritten);
      return;
    }
    if (onWritten) this.writtenListeners.push(onWritten);
    this.addToBatch([Buffer.from(onOneLine(message))]);
  }

  /**
   * Answers with a result that is encoded already, because it is long or because other clients get it too. Returns a
   * promise only if the answer takes several slices.
   */
  answerShared(id: RequestId, result: SharedJson): Promise<void> | undefined {
    const { response, session } = this;
    const head = resultHead(id);
    if (this.stream || this.requestId === undefined) {
      const steps = oneLineSteps(result.bytes);
      const firstStep = steps.next();
      if (!firstStep.done)
        return runSliced(steps, sliceScheduler.start()).then((line) => this.answerLine(head, line));
      this.answerLine(head, firstStep.value);
      return undefined;
    }
    this.unansweredCount--;
    setImmediate(writeShared, response, head, result.bytes, session.unread);
    return undefined;
  }

  /** Switches to a stream and writes a comment, so that proxies do not close the connection of a slow request. */
  keepAlive(): void {
    if (!this.isAnswered) this.switchToStream().keepAlive();
  }

  /** Answers in a batch or on a stream. `result` is on one line. `head` is the text of the message before the result. */
  private answerLine(head: string, result: Buffer): void {
    this.unansweredCount--;
    const parts = [Buffer.from(head), result, CLOSING_BRACE];
    if (!this.stream) {
      this.addToBatch(parts);
      return;
    }
    this.stream.send(longEventFrame(parts, this.stream.name));
    if (this.isAnswered) this.endStream(this.stream);
  }

  private addToBatch(answer: readonly Buffer[]): void {
    this.answers.push(answer);
    this.session.unread.add(lengthOf(answer));
    if (this.isAnswered) setImmediate(() => this.writeBatch());
  }

  /** Returns the stream of the response. If there is none yet, opens it and sends the answers of the batch so far. */
  private switchToStream(): EventStream {
    if (this.stream) return this.stream;
    const stream = this.session.streams.open(this.requestId);
    this.stream = stream;
    const primer = this.session.revision.primer(stream.name);
    if (primer) stream.send(primer);
    for (const answer of this.answers) stream.send(longEventFrame(answer, stream.name));
    if (!this.response.destroyed) {
      openEventStream(this.response);
      stream.connect(this.response);
    }
    this.releaseAnswers();
    return stream;
  }

  private writeBatch(): void {
    const { response, answers, session } = this;
    const parts = answers.flatMap((answer, index) => [index === 0 ? OPENING_BRACKET : COMMA, ...answer]);
    this.releaseAnswers(() => writeParts(response, [...parts, CLOSING_BRACKET], session.unread));
  }

  /** Removes the answers of the batch, calls `write` if it is given, and then calls `writtenListeners`. */
  private releaseAnswers(write?: () => void): void {
    const size = this.answers.reduce((sum, answer) => sum + lengthOf(answer), 0);
    this.answers.length = 0;
    this.session.unread.add(-size);
    write?.();
    for (const listener of this.writtenListeners.splice(0)) listener();
  }

  private endStream(stream: EventStream): void {
    stream.end();
    this.session.streams.removeIfDone(stream);
  }
}

const OPENING_BRACKET = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSING_BRACKET = Buffer.from(']');
const CLOSING_BRACE = Buffer.from('}');

function writeShared(
  response: ServerResponse,
  head: string,
  result: Buffer,
  unread: Pick<UnreadResponses, 'watch'>,
): void {
  writeParts(response, [Buffer.from(head), result, CLOSING_BRACE], unread);
}
