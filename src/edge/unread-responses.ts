import type { ServerResponse } from 'node:http';
import { MemoryLimitError } from '../core/memory-limits.js';
import type { StreamObserver } from './event-stream.js';

/** After a session is closed, its client is disconnected if it reads nothing for this time. */
const CLOSED_STUCK_MS = 1000;

export interface UnreadLimits {
  readonly unreadBytesPerSession: number;
  readonly unreadBytesPerPrincipal: number;
  readonly streamStuckMs: number;
}

/** By quota key: the number of response bytes that the clients of a principal have not read yet. No entry means 0. */
export class UnreadByPrincipal {
  private readonly bytes = new Map<string, number>();

  of(quotaKey: string): number {
    return this.bytes.get(quotaKey) ?? 0;
  }

  add(quotaKey: string, bytes: number): void {
    const sum = this.of(quotaKey) + bytes;
    if (sum > 0) this.bytes.set(quotaKey, sum);
    else this.bytes.delete(quotaKey);
  }
}

/**
 * Counts the response bytes of one session, or of one request without a session, that the client has not read yet: bytes
 * of JSON responses, and bytes in the queues of response streams. Bytes in buffers of the kernel do not count, because
 * they take no memory of the process.
 */
export class UnreadResponses {
  private bytes = 0;
  private isClosed = false;
  /** The responses with unread bytes. Undefined before the first such response. */
  private responses: Set<ServerResponse> | undefined;

  constructor(
    private readonly limits: UnreadLimits,
    /**
     * The client of the responses. Limits per principal count the bytes under its `quotaKey`, which must not change while there
     * are unread bytes, because bytes are subtracted under the key under which they were added.
     */
    private readonly client: { readonly quotaKey: string },
    private readonly byPrincipal: UnreadByPrincipal = new UnreadByPrincipal(),
    /** Counts clients that are disconnected because they read nothing. */
    private readonly observer?: Pick<StreamObserver, 'countStreamEnd'>,
  ) {}

  /** While a limit is reached: the error that the client gets instead of a result. Otherwise undefined. */
  limitError(): MemoryLimitError | undefined {
    const { unreadBytesPerSession, unreadBytesPerPrincipal } = this.limits;
    if (this.bytes >= unreadBytesPerSession) return unreadError('this session', unreadBytesPerSession);
    return this.byPrincipal.of(this.client.quotaKey) >= unreadBytesPerPrincipal
      ? unreadError('sessions of this principal', unreadBytesPerPrincipal)
      : undefined;
  }

  /** Changes the number of unread bytes. `bytes` is negative when the client has read something. */
  add(bytes: number): void {
    if (this.isClosed || bytes === 0) return;
    this.bytes += bytes;
    this.byPrincipal.add(this.client.quotaKey, bytes);
  }

  /**
   * Call this after `end` of a response. Counts the bytes that the client has not read yet, until it has read the
   * response. Disconnects a client that reads nothing for too long.
   */
  watch(response: ServerResponse): void {
    const bytes = response.writableLength;
    if (bytes === 0) return;
    this.add(bytes);
    const responses = (this.responses ??= new Set());
    responses.add(response);
    response.setTimeout(this.isClosed ? CLOSED_STUCK_MS : this.limits.streamStuckMs, () => {
      this.observer?.countStreamEnd('stuck');
      response.destroy();
    });
    response.once('close', () => {
      responses.delete(response);
      this.add(-bytes);
    });
  }

  close(): void {
    this.add(-this.bytes);
    this.isClosed = true;
    for (const response of this.responses ?? []) response.setTimeout(CLOSED_STUCK_MS);
  }
}

const unreadError = (recipient: string, limit: number): MemoryLimitError =>
  new MemoryLimitError(
    'unread-responses',
    limit,
    `${limit} bytes of responses to ${recipient} are unread: read them before the next request`,
  );
