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

/** The last event of a stream that its client has. */
export interface ResumePoint {
  readonly stream: string;
  readonly sequence: number;
}

/** Bytes of events that a session keeps for resumption. */
const REPLAY_BYTES = 1_048_576;

/** All streams of one client, and what it takes to take each of them up again. */
export class SessionStreams {
  readonly standalone: EventStream;
  private readonly log: ReplayBuffer;
  /** Those of answers, by name. */
  private readonly responses = new Map<string, EventStream>();
  private lastName = 0;
  /** Ids up to this are of events that were never here, or in an earlier life. */
  private readonly createdAfter = latestSequence();
  private keptAliveAt = performance.now();

  constructor(
    private readonly limits: SessionStreamLimits,
    private readonly observer?: StreamObserver,
  ) {
    this.log = new ReplayBuffer(limits.replayEvents, REPLAY_BYTES);
    this.standalone = this.streamOf('');
  }

  /** How many the client reads right now. */
  get connected(): number {
    return [this.standalone, ...this.responses.values()].filter((stream) => stream.isConnected).length;
  }

  /** One for an answer. */
  open(): EventStream {
    const name = (++this.lastName).toString(36);
    const stream = this.streamOf(name);
    this.responses.set(name, stream);
    return stream;
  }

  /** Forgets one that has nothing left to do. */
  close(stream: EventStream): void {
    if (stream.isDone) this.responses.delete(stream.name);
  }

  /** Goes on over this response: with the standing stream, or with the one that broke off. */
  listen(response: ServerResponse, resume?: ResumePoint): void {
    openEventStream(response);
    const isOwnSequence = resume !== undefined && this.isOurs(resume.sequence);
    if (!resume?.stream) {
      // What a client has not seen since an earlier life is all there is.
      this.standalone.connect(response, resume && (isOwnSequence ? resume.sequence : 0));
      return;
    }
    const stream = isOwnSequence ? this.responses.get(resume.stream) : undefined;
    if (stream) {
      stream.connect(response, resume.sequence);
      this.close(stream);
      return;
    }
    // A stream of an earlier life is over, whatever has its name now.
    const over = this.streamOf(resume.stream);
    over.end();
    over.connect(response, isOwnSequence ? resume.sequence : undefined);
  }

  /** Called now and then: keeps the standing stream alive and forgets those that slow readers have read. */
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

  /** Whether an event of this life may have had it; that of an earlier one may be ahead where a clock was set back. */
  private isOurs(sequence: number): boolean {
    return sequence > this.createdAfter && sequence <= latestSequence();
  }
}
