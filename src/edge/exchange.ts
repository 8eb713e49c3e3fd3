import type { ServerResponse } from 'node:http';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { SharedJson } from '../lib/json-text/json-text.js';
import { eventFrame } from '../mcp/event-frame.js';
import type { DeliverOptions } from '../mcp/mcp-context.js';
import type { Revision } from '../mcp/revisions/revision.js';
import type { EventStream } from './event-stream.js';

/** The session, as far as an exchange uses it. */
export interface ExchangeHost {
  readonly revision: Revision;
  readonly streams: {
    /** Opens a response stream, which the client can resume. */
    open(): EventStream;
    close(stream: EventStream): void;
  };
}

const STREAM_HEAD = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

export function openEventStream(response: ServerResponse): void {
  response.writeHead(200, STREAM_HEAD);
  response.flushHeaders();
}

/**
 * The answer to one POST: JSON, or an event stream if another message precedes the result or the result takes long. The
 * stream outlives its connection.
 */
export class Exchange {
  private readonly answers: string[] = [];
  private stream: EventStream | undefined;
  readonly startedAt = performance.now();

  constructor(
    private readonly response: ServerResponse,
    private readonly host: ExchangeHost,
    /** Number of messages that still need an answer. */
    private unanswered: number,
    private readonly isBatch: boolean,
  ) {}

  get isAnswered(): boolean {
    return this.unanswered === 0;
  }

  /** Sends a notification or request of the server before the result. */
  send(message: string, options?: DeliverOptions): void {
    if (this.unanswered === 0) return;
    const stream = this.asStream();
    stream.send(eventFrame(message, stream.name), options);
  }

  answer(message: string): void {
    this.unanswered--;
    if (this.stream) {
      this.stream.send(eventFrame(message, this.stream.name));
      if (this.unanswered === 0) this.endStream(this.stream);
      return;
    }
    if (!this.isBatch) {
      setImmediate(writeJson, this.response, message);
      return;
    }
    this.answers.push(message);
    if (this.unanswered === 0) setImmediate(writeJson, this.response, `[${this.answers.join(',')}]`);
  }

  /** A result that is shared with other clients: its bytes are written without a copy. */
  answerShared(id: RequestId, result: SharedJson): void {
    if (this.stream || this.isBatch) {
      this.answer(this.host.revision.resultMessage(id, result));
      return;
    }
    this.unanswered--;
    setImmediate(writeShared, this.response, this.host.revision.resultHead(id), result.bytes);
  }

  /** Turns a slow answer into a stream and writes a comment, so that proxies do not close the connection. */
  keepAlive(): void {
    if (this.unanswered > 0) this.asStream().keepAlive();
  }

  /** Switches to a stream that begins with the answers so far. */
  private asStream(): EventStream {
    if (this.stream) return this.stream;
    const stream = this.host.streams.open();
    this.stream = stream;
    for (const frame of this.host.revision.openingFrames(stream.name)) stream.send(frame);
    for (const answer of this.answers) stream.send(eventFrame(answer, stream.name));
    if (!this.response.destroyed) {
      openEventStream(this.response);
      stream.connect(this.response);
    }
    return stream;
  }

  private endStream(stream: EventStream): void {
    stream.end();
    this.host.streams.close(stream);
  }
}

// Answers are written in setImmediate, after everything that has arrived was processed (docs/decisions/0015).

function writeJson(response: ServerResponse, body: string): void {
  if (response.destroyed) return;
  const length = Buffer.byteLength(body);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length });
  // For ASCII, latin1 gives the same bytes and is faster.
  response.end(body, length === body.length ? 'latin1' : 'utf8');
}

function writeShared(response: ServerResponse, head: string, bytes: Buffer): void {
  if (response.destroyed) return;
  const length = Buffer.byteLength(head) + bytes.length + 1;
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length });
  response.cork();
  response.write(head);
  response.write(bytes);
  response.end('}');
  response.uncork();
}
