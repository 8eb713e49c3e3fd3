import type { ServerResponse } from 'node:http';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { SharedJson } from '../lib/json-text/json-text.js';
import { eventFrame } from '../mcp/event-frame.js';
import type { DeliverOptions } from '../mcp/mcp-context.js';
import type { Revision } from '../mcp/revisions/revision.js';
import type { EventStream } from './event-stream.js';

/** What an exchange needs of the session it belongs to. */
export interface ExchangeHost {
  readonly revision: Revision;
  readonly streams: {
    /** A stream of its own, which the client can resume. */
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
 * The answer to one POST. It is plain JSON if nothing has to be said before the result; otherwise, from the first
 * word on, it is an event stream that outlives its connection.
 */
export class Exchange {
  private readonly answers: string[] = [];
  private stream: EventStream | undefined;
  readonly startedAt = performance.now();

  constructor(
    private readonly response: ServerResponse,
    private readonly host: ExchangeHost,
    /** Requests yet to be answered. */
    private open: number,
    private readonly isBatch: boolean,
  ) {}

  get isAnswered(): boolean {
    return this.open === 0;
  }

  /** Something ahead of the result. */
  send(message: string, options?: DeliverOptions): void {
    if (this.open === 0) return;
    const stream = this.asStream();
    stream.send(eventFrame(message, stream.name), options);
  }

  answer(message: string): void {
    this.open--;
    if (this.stream) {
      this.stream.send(eventFrame(message, this.stream.name));
      if (this.open === 0) this.endStream(this.stream);
      return;
    }
    if (!this.isBatch) {
      setImmediate(writeJson, this.response, message);
      return;
    }
    this.answers.push(message);
    if (this.open === 0) setImmediate(writeJson, this.response, `[${this.answers.join(',')}]`);
  }

  /** A result that others get too: it is written from where it is. */
  answerShared(id: RequestId, result: SharedJson): void {
    if (this.stream || this.isBatch) {
      this.answer(this.host.revision.resultMessage(id, result));
      return;
    }
    this.open--;
    setImmediate(writeShared, this.response, this.host.revision.resultHead(id), result.bytes);
  }

  /** A result that takes long: something must travel, or a proxy takes the silence for death. */
  keepAlive(): void {
    if (this.open > 0) this.asStream().keepAlive();
  }

  /** Becomes a stream, with whatever was answered so far as its first events. */
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

// Answers are written at the end of the turn in which they came, one after the other (docs/decisions/0015).

function writeJson(response: ServerResponse, body: string): void {
  if (response.destroyed) return;
  const length = Buffer.byteLength(body);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length });
  // Where each character is one byte, it need not be looked at again to be encoded.
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
