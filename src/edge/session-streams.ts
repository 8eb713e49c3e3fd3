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
  private readonly log: ReplayBuffer;
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
    this.log = new ReplayBuffer(limits.replayEvents, REPLAY_BYTES);
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
    const isOwnSequence = resume !== undefined && this.isOurs(resume.sequence);
    if (!resume?.stream) {
      // A client of the previous process has seen none of the events of this one.
      this.standalone.connect(response, resume && (isOwnSequence ? resume.sequence : 0));
      return;
    }
    const stream = isOwnSequence ? this.responses.get(resume.stream) : undefined;
    if (stream) {
      stream.connect(response, resume.sequence);
      this.close(stream);
      return;
    }
    // A stream of the previous process has ended; a stream of this process may have the same name.
    const over = this.streamOf(resume.stream);
    over.end();
    over.connect(response, isOwnSequence ? resume.sequence : undefined);
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
      this.log,
      { queuedEvents: streamQueue, stuckMs: streamStuckMs },
      this.observer,
    );
  }

  /** Sequence numbers of the previous process may also lie ahead, if the clock was set back. */
  private isOurs(sequence: number): boolean {
    return sequence > this.createdAfter && sequence <= latestSequence();
  }
}
