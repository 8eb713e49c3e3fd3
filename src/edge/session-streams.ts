import type { ServerResponse } from 'node:http';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { completesWithin } from '../lib/deadlines/timeout.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';
import { Waiters } from '../lib/listeners/waiters.js';
import { latestSequence, type EventFrame } from '../mcp/event-frame.js';
import { ReplayBuffer } from './replay-buffer.js';
import { EventStream, type StreamObserver, type UnreadCounter } from './event-stream.js';
import { openEventStream } from './exchange.js';
import { requestIdOfStream, responseLostFrame, responseStreamName } from './lost-response.js';

export interface SessionStreamLimits {
  readonly streamQueue: number;
  readonly streamStuckMs: number;
  readonly replayEvents: number;
}

/** The last event that the client received, as Last-Event-ID says. */
export interface ResumePoint {
  /** Name of the stream; empty for the standalone stream. */
  readonly stream: string;
  /** Sequence number of the event. */
  readonly sequence: number;
}

const MAX_REPLAY_BYTES = 1_048_576;

/**
 * All event streams of one session: the standalone stream, which the client opens with GET, and response streams, which
 * answer a POST.
 */
export class SessionStreams {
  readonly standalone: EventStream;
  private readonly replayBuffer: ReplayBuffer;
  /** By name. */
  private readonly responseStreams = new Map<string, EventStream>();
  private readonly listenWaiters = new Waiters();
  private readonly missedListeners = new ListenerSet<[queuedKeys: ReadonlySet<string>]>();
  /** The number in the name of the latest response stream. */
  private lastStreamNumber = 0;
  /** The highest sequence number that this process had assigned when the session was created. */
  private readonly sequenceAtCreation = latestSequence();
  private lastKeepAliveAt = performance.now();

  constructor(
    private readonly limits: SessionStreamLimits,
    private readonly observer?: StreamObserver,
    /**
     * Counts the bytes that response streams have queued. The queue of the standalone stream has a limit of its own.
     */
    private readonly unread?: UnreadCounter,
  ) {
    this.replayBuffer = new ReplayBuffer(limits.replayEvents, MAX_REPLAY_BYTES);
    this.standalone = this.createStream('');
  }

  /** Number of streams with an open connection. */
  get connectedCount(): number {
    return [this.standalone, ...this.responseStreams.values()].filter((stream) => stream.isConnected).length;
  }

  /** Opens the response stream of a request, or of a batch if `requestId` is undefined. */
  open(requestId?: RequestId): EventStream {
    const name = responseStreamName(++this.lastStreamNumber, requestId);
    const stream = this.createStream(name, this.unread);
    this.responseStreams.set(name, stream);
    return stream;
  }

  /** Removes the response stream if it is done (`EventStream.isDone`). */
  removeIfDone(stream: EventStream): void {
    if (!stream.isDone || !this.responseStreams.delete(stream.name)) return;
    stream.discardQueue();
  }

  /** Resolves when the client connects to the standalone stream, or after the timeout. */
  async whenListening(timeoutMs: number): Promise<void> {
    await completesWithin(this.listenWaiters.wait(), timeoutMs);
  }

  /**
   * Connects the response to the stream that `resume` names or, without `resume`, to the standalone stream. On the
   * standalone stream, the primer is sent first: an event without data, whose id the client can resume from.
   */
  listen(response: ServerResponse, resume?: ResumePoint, primer?: EventFrame): void {
    const { standalone } = this;
    const queuedKeys = this.mayMissEvents(resume) ? standalone.queuedKeys : undefined;
    openEventStream(response);
    if (resume) this.resume(response, resume, primer);
    else standalone.connect(response, undefined, primer);
    if (standalone.isConnected) this.listenWaiters.release();
    if (queuedKeys) this.missedListeners.emit(queuedKeys);
  }

  /** See `Subscriber`. */
  onMissedEvents(listener: (queuedKeys: ReadonlySet<string>) => void): () => void {
    return this.missedListeners.add(listener);
  }

  /**
   * Whether the client that connects now may have missed events of the standalone stream that are not replayed. Without
   * Last-Event-ID, the gateway does not know which events the client got on an earlier connection.
   */
  private mayMissEvents(resume: ResumePoint | undefined): boolean {
    if (!resume) return this.standalone.wasConnected;
    return resume.stream === '' && !this.replayBuffer.isCompleteAfter(this.replayStart(resume));
  }

  private resume(response: ServerResponse, point: ResumePoint, primer?: EventFrame): void {
    const { stream, sequence } = point;
    if (stream === '') this.standalone.connect(response, this.replayStart(point), primer);
    else this.resumeResponse(response, stream, this.isOwnSequence(sequence) ? sequence : undefined);
  }

  /** If the previous process sent the last event that the client received, all events of this process are replayed. */
  private replayStart({ sequence }: ResumePoint): number {
    return this.isOwnSequence(sequence) ? sequence : 0;
  }

  /**
   * Call this at intervals shorter than `intervalMs`. Writes a comment to the standalone stream if the last one is at least
   * `intervalMs` old. Removes response streams that are done.
   */
  keepAlive(intervalMs: number): void {
    const now = performance.now();
    if (now - this.lastKeepAliveAt >= intervalMs) {
      this.lastKeepAliveAt = now;
      this.standalone.keepAlive();
    }
    for (const stream of this.responseStreams.values()) this.removeIfDone(stream);
  }

  /**
   * Resumes a response stream. `sequence` is undefined if the previous process opened the stream. Such a stream is not
   * looked up by name, because a stream of this process may have the same name.
   */
  private resumeResponse(response: ServerResponse, name: string, sequence: number | undefined): void {
    const stream = sequence === undefined ? undefined : this.responseStreams.get(name);
    if (stream) {
      stream.connect(response, sequence);
      this.removeIfDone(stream);
      return;
    }
    // The stream object does not exist any more. A new one replays the events that are still in the buffer.
    const replayed = this.createStream(name);
    if (this.isResponseLost(name, sequence)) replayed.send(responseLostFrame(name));
    replayed.end();
    replayed.connect(response, sequence);
  }

  /**
   * Whether the client cannot get the response: the process that would have sent it has ended, or the buffer dropped
   * it.
   */
  private isResponseLost(name: string, sequence: number | undefined): boolean {
    if (requestIdOfStream(name) === undefined) return false;
    if (sequence === undefined) return true;
    return !this.replayBuffer.has(sequence) && this.replayBuffer.after(name, sequence).length === 0;
  }

  private createStream(name: string, unread?: UnreadCounter): EventStream {
    const { streamQueue, streamStuckMs } = this.limits;
    return new EventStream(
      name,
      this.replayBuffer,
      { queuedEvents: streamQueue, stuckMs: streamStuckMs },
      this.observer,
      unread,
    );
  }

  /**
   * Whether this process has assigned the number since the session was created. The previous process may have assigned
   * higher numbers than the latest one of this process if the clock was set back.
   */
  private isOwnSequence(sequence: number): boolean {
    return sequence > this.sequenceAtCreation && sequence <= latestSequence();
  }
}
