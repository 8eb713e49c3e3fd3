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
  private readonly listenWaiters = new Waiters();
  private readonly missedListeners = new ListenerSet<[queued: ReadonlySet<string>]>();
  /** The number in the name of the latest response stream. */
  private lastNumber = 0;
  /** Sequence numbers up to this one belong to other sessions or to the previous process. */
  private readonly sequenceAtCreation = latestSequence();
  private lastKeepAliveAt = performance.now();

  constructor(
    private readonly limits: SessionStreamLimits,
    private readonly observer?: StreamObserver,
    /** Counts the bytes that response streams have queued. The queue of the standalone stream has a limit of its own. */
    private readonly unread?: UnreadCounter,
  ) {
    this.replayBuffer = new ReplayBuffer(limits.replayEvents, REPLAY_BYTES);
    this.standalone = this.createStream('');
  }

  /** Number of streams with an open connection. */
  get connectedCount(): number {
    return [this.standalone, ...this.responses.values()].filter((stream) => stream.isConnected).length;
  }

  /** Opens the response stream of a request, or of a batch if `requestId` is undefined. */
  open(requestId?: RequestId): EventStream {
    const name = responseStreamName(++this.lastNumber, requestId);
    const stream = this.createStream(name, this.unread);
    this.responses.set(name, stream);
    return stream;
  }

  removeIfDone(stream: EventStream): void {
    if (!stream.isDone || !this.responses.delete(stream.name)) return;
    stream.discardQueue();
  }

  /** Resolves when the client connects to the standalone stream, or after the timeout. */
  async whenListening(timeoutMs: number): Promise<void> {
    await completesWithin(this.listenWaiters.wait(), timeoutMs);
  }

  /**
   * Connects the response to the stream that `resume` names or, without `resume`, to the standalone stream. On the
   * standalone stream, the primer is sent first.
   */
  listen(response: ServerResponse, resume?: ResumePoint, primer?: EventFrame): void {
    const { standalone } = this;
    const queued = this.mayMissEvents(resume) ? standalone.queuedKeys : undefined;
    openEventStream(response);
    if (resume) this.resume(response, resume, primer);
    else standalone.connect(response, undefined, primer);
    if (standalone.isConnected) this.listenWaiters.release();
    if (queued) this.missedListeners.emit(queued);
  }

  /** See `Subscriber`. */
  onMissedEvents(listener: (queued: ReadonlySet<string>) => void): () => void {
    return this.missedListeners.add(listener);
  }

  /**
   * Whether events of the standalone stream may not reach the client that connects now. Without Last-Event-ID it is not known
   * which events reached the client on an earlier connection.
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

  /** If the last event that the client received is of the previous process, all events of this process are replayed. */
  private replayStart({ sequence }: ResumePoint): number {
    return this.isOwnSequence(sequence) ? sequence : 0;
  }

  /**
   * To be called more often than every `intervalMs`. Writes a comment to the standalone stream at this interval. Removes
   * response streams that are done.
   */
  keepAlive(intervalMs: number): void {
    const now = performance.now();
    if (now - this.lastKeepAliveAt >= intervalMs) {
      this.lastKeepAliveAt = now;
      this.standalone.keepAlive();
    }
    for (const stream of this.responses.values()) this.removeIfDone(stream);
  }

  /**
   * Resumes a response stream. `sequence` is undefined if the previous process opened it. Such a stream is not looked up by
   * name, because a stream of this process may have the same name.
   */
  private resumeResponse(response: ServerResponse, name: string, sequence: number | undefined): void {
    const stream = sequence === undefined ? undefined : this.responses.get(name);
    if (stream) {
      stream.connect(response, sequence);
      this.removeIfDone(stream);
      return;
    }
    // The stream does not exist any more: the rest of its events is replayed from the buffer.
    const ended = this.createStream(name);
    if (this.isResponseLost(name, sequence)) ended.send(responseLostFrame(name));
    ended.end();
    ended.connect(response, sequence);
  }

  /** Whether no response can follow: the process that would have sent it has ended, or the buffer has dropped it. */
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
   * Whether this process has assigned the number since the session was created. Numbers of the previous process may be
   * above the latest one of this process, if the clock was set back.
   */
  private isOwnSequence(sequence: number): boolean {
    return sequence > this.sequenceAtCreation && sequence <= latestSequence();
  }
}
