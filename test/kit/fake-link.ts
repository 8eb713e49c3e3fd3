import type { Link, LinkRequest, ServerFacts, ServerNotification } from '../../src/backends/link/link.js';
import { TransportError } from '../../src/backends/link/transport.js';
import { RemoteError } from '../../src/core/errors.js';
import { JsonText } from '../../src/lib/json-text/json-text.js';
import { LATEST_REVISION } from '../../src/mcp/revisions/revision.js';

/** A request that waits for the spec to answer it. */
export interface PendingRequest extends LinkRequest {
  /** Answers with an object, or with text that is sent unchanged. */
  answer(result: object | string): void;
  fail(error: Error): void;
}

/**
 * The answers of the server, by method. An error fails the request. Undefined leaves the request in flight, so that the spec
 * answers it.
 */
export type Answers = Readonly<Record<string, (request: LinkRequest) => object | string | undefined>>;

/** An in-memory link: the spec acts as the server. */
export class FakeLink implements Link {
  readonly facts: ServerFacts;
  readonly closed: Promise<Error>;
  /** Requests in flight. */
  readonly inFlight = new Set<PendingRequest>();
  /** All requests so far. */
  readonly requests: LinkRequest[] = [];
  readonly notified: string[] = [];
  readonly stderr: string[] = [];
  closes = 0;
  received = 0;
  pid: number | undefined;
  notificationsReady = Promise.resolve();
  notificationStream: Link['notificationStream'] = 'open';
  refusesSubscriptions = false;
  era: Link['era'] = { name: '2025', since: 0 };
  sendsParamHeaders = false;
  listens: Link['listens'];
  private listener: (notification: ServerNotification) => void = () => {};
  private readonly gapListeners: (() => void)[] = [];
  private announceClosed!: (reason: Error) => void;
  private reason: Error | undefined;

  constructor(
    private readonly answers: Answers = {},
    facts: Partial<ServerFacts> = {},
  ) {
    const serverInfo = { name: 'fake', version: '1' };
    this.facts = { protocolVersion: LATEST_REVISION.version, capabilities: {}, serverInfo, ...facts };
    this.closed = new Promise((resolve) => (this.announceClosed = resolve));
  }

  request(request: LinkRequest): Promise<JsonText> {
    this.requests.push(request);
    if (this.reason) return Promise.reject(new TransportError('unreachable', this.reason.message));
    return new Promise((resolve, reject) => {
      const pending: PendingRequest = {
        ...request,
        answer: (result) => {
          this.inFlight.delete(pending);
          this.received++;
          resolve(typeof result === 'string' ? new JsonText(result) : JsonText.of(result));
        },
        fail: (error) => {
          this.inFlight.delete(pending);
          if (error instanceof RemoteError) this.received++;
          reject(error);
        },
      };
      this.inFlight.add(pending);
      const answer = this.answers[request.method]?.(request);
      if (answer instanceof Error) pending.fail(answer);
      else if (answer) pending.answer(answer);
    });
  }

  async probe(timeoutMs: number): Promise<void> {
    await this.request({ method: 'ping', timeoutMs }).catch(() => {});
  }

  /** The only request of this method in flight. Throws when there is none or more than one. */
  asked(method: string): PendingRequest {
    const found = [...this.inFlight].filter((asked) => asked.method === method);
    if (found.length !== 1) throw new Error(`${found.length} requests ${method} are in flight`);
    return found[0]!;
  }

  count(method: string): number {
    return this.requests.filter((request) => request.method === method).length;
  }

  notify(method: string): void {
    this.notified.push(method);
  }

  onNotification(listener: (notification: ServerNotification) => void): void {
    this.listener = listener;
  }

  onGap(listener: () => void): void {
    this.gapListeners.push(listener);
  }

  /** Reports that notifications of the server may have been lost. */
  emitGap(): void {
    for (const listener of this.gapListeners) listener();
  }

  /** Sends a notification of the server. */
  emit(method: string, params: object = {}, origin: Partial<ServerNotification> = {}): void {
    this.received++;
    this.listener({
      method,
      params: params as Record<string, unknown>,
      paramsText: JSON.stringify(params),
      channel: undefined,
      ...origin,
    });
  }

  stderrTail(): readonly string[] {
    return this.stderr;
  }

  /** The link breaks: requests in flight fail. */
  disconnect(reason: Error = new TransportError('broken', 'the connection closed')): void {
    if (this.reason) return;
    this.reason = reason;
    for (const asked of this.inFlight) asked.fail(new TransportError('broken', reason.message));
    this.announceClosed(reason);
  }

  close(): Promise<void> {
    this.closes++;
    this.disconnect(new TransportError('broken', 'the link was closed'));
    return Promise.resolve();
  }
}
