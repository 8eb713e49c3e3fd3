import type { ServerResponse } from 'node:http';
import { latestSequence } from '../mcp/event-frame.js';
import { ReplayBuffer } from './replay-buffer.js';
import { EventStream, type StreamObserver } from './event-stream.js';
import { openEventStream } from './exchange.js';

export interface SessionStreamLimits {
  readonly streamQueue: number;
  readonly streamStuckMs: number;
  readonly replayEvents: number;
}

/** The last event that the client received, from Last-Event-ID. */
export interface ResumePoint {
  readonly stream: string;
  readonly sequence: number;
}

const REPLAY_BYTES = 1_048_576;

/** All event streams of one session, with the buffer for their replay. */
export class SessionStreams {
  readonly standalone: EventStream;
  private readonly replayBuffer: ReplayBuffer;
  /** Response streams by name. */
  private readonly responses = new Map<string, EventStream>();
  private lastName = 0;
  /** Sequence numbers up to this one belong to other sessions or to the previous process. */
  private readonly createdAfter = latestSequence();
  private keptAliveAt = performance.now();

  constructor(
    private readonly limits: SessionStreamLimits,
    private readonly observer?: StreamObserver,
  ) {
    this.replayBuffer = new ReplayBuffer(limits.replayEvents, REPLAY_BYTES);
    this.standalone = this.streamOf('');
  }

  /** Number of streams with an open connection. */
  get connected(): number {
    return [this.standalone, ...this.responses.values()].filter((stream) => stream.isConnected).length;
  }

  /** Opens a response stream. */
  open(): EventStream {
    const name = (++this.lastName).toString(36);
    const stream = this.streamOf(name);
    this.responses.set(name, stream);
    return stream;
  }

  /** Removes a stream that is done. */
  close(stream: EventStream): void {
    if (stream.isDone) this.responses.delete(stream.name);
  }

  /** Connects the response to the standalone stream, or to the stream to be resumed. */
  listen(response: ServerResponse, resume?: ResumePoint): void {
    openEventStream(response);
    const isOwn = resume !== undefined && this.isOwnSequence(resume.sequence);
    if (!resume?.stream) {
      // A sequence number of the previous process: the client has received no event of this process.
      this.standalone.connect(response, resume && (isOwn ? resume.sequence : 0));
      return;
    }
    const stream = isOwn ? this.responses.get(resume.stream) : undefined;
    if (stream) {
      stream.connect(response, resume.sequence);
      this.close(stream);
      return;
    }
    // A stream of the previous process has ended; a stream of this process may have the same name.
    const ended = this.streamOf(resume.stream);
    ended.end();
    ended.connect(response, isOwn ? resume.sequence : undefined);
  }

  /** Called periodically: writes a comment to a quiet standalone stream and removes response streams that are done. */
  keepAlive(quietMs: number): void {
    const now = performance.now();
    if (now - this.keptAliveAt >= quietMs) {
      this.keptAliveAt = now;
      this.standalone.keepAlive();
    }
    for (const stream of this.responses.values()) this.close(stream);
  }

  private streamOf(name: string): EventStream {
    const { streamQueue, streamStuckMs } = this.limits;
    return new EventStream(
      name,
      this.replayBuffer,
      { queuedEvents: streamQueue, stuckMs: streamStuckMs },
      this.observer,
    );
  }

  /** Sequence numbers of the previous process may also lie ahead, if the clock was set back. */
  private isOwnSequence(sequence: number): boolean {
    return sequence > this.createdAfter && sequence <= latestSequence();
  }
}
