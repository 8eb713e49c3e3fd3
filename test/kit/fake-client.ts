import { getEventListeners } from 'node:events';
import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { Cancellation, type CancelSignal } from '../../src/lib/cancellation/cancellation.js';
import { EVERYTHING, type Scope } from '../../src/core/scope.js';
import type { EventFrame } from '../../src/mcp/event-frame.js';
import type {
  Caller,
  ClientRequestOptions,
  LinkOwner,
  DeliverOptions,
  SessionContext,
  Subscriber,
} from '../../src/mcp/mcp-context.js';
import { ANONYMOUS, type Principal } from '../../src/mcp/principal.js';
import type { Message } from './events.js';
import { JsonText } from '../../src/lib/json-text/json-text.js';
import { MODERN_REVISION } from '../../src/mcp/revisions/modern.js';
import { LATEST_REVISION } from '../../src/mcp/revisions/revision.js';

/** A request to the client that the spec answers. */
export interface PendingClientRequest {
  readonly method: string;
  readonly params: unknown;
  readonly options: ClientRequestOptions;
  answer(result: object): void;
  decline(error: Error): void;
}

export class FakeClient implements LinkOwner {
  readonly notifications: { method: string; params: unknown }[] = [];
  readonly requests: PendingClientRequest[] = [];
  readonly closeListeners = new Set<() => void>();
  isClosed = false;

  constructor(
    readonly id: string,
    readonly capabilities: ClientCapabilities = {},
    public quotaKey: string = id,
  ) {}

  notify(method: string, params: JsonText | undefined): void {
    this.notifications.push({ method, params: params?.toJSON() });
  }

  sendRequest(
    method: string,
    params: JsonText | undefined,
    options: ClientRequestOptions,
  ): Promise<JsonText> {
    return new Promise((resolve, reject) => {
      options.signal.addEventListener('abort', () => reject(new Error('withdrawn')), { once: true });
      const answer = (result: object): void => resolve(JsonText.of(result));
      this.requests.push({ method, params: params?.toJSON(), options, answer, decline: reject });
    });
  }

  onClose(listener: () => void): () => void {
    if (this.isClosed) listener();
    this.closeListeners.add(listener);
    return () => this.closeListeners.delete(listener);
  }

  close(): void {
    this.isClosed = true;
    for (const listener of this.closeListeners) listener();
  }

  /** A call of this client. */
  call(): FakeCaller {
    return new FakeCaller(this);
  }
}

/** One request of a client, with the notifications and requests on its own stream. */
export class FakeCaller extends FakeClient implements Caller {
  readonly key: string;
  readonly principal = ANONYMOUS;
  readonly revision = LATEST_REVISION;
  readonly logLevel = undefined;
  private readonly abortController = new AbortController();

  constructor(readonly session: FakeClient) {
    super(`a call of ${session.id}`, {}, session.quotaKey);
    this.key = session.id;
  }

  get linkOwner(): FakeClient {
    return this.session;
  }

  get signal(): AbortSignal {
    return this.abortController.signal;
  }

  cancel(): void {
    this.abortController.abort();
  }

  /** Number of listeners for its cancellation. */
  get abortListeners(): number {
    return getEventListeners(this.signal, 'abort').length;
  }
}

/** A client that records the events delivered to it: a session, or a listen stream. */
export class FakeSubscriber extends FakeClient implements Subscriber {
  readonly delivered: { readonly frame: EventFrame; readonly options: DeliverOptions }[] = [];
  /** While false, delivered events stay queued and can be withdrawn. */
  isReading = true;
  readonly scopeListeners = new Set<() => void>();
  readonly missedListeners = new Set<(queued: ReadonlySet<string>) => void>();
  hasStream = true;
  /** Receives each function that is to run after a response was written. */
  written = (listener: () => void): unknown => setImmediate(listener);
  clientInfo: { name: string; version: string } | undefined;
  private currentScope: Scope = EVERYTHING;
  linkOwner: FakeClient | undefined = this;

  constructor(
    id: string,
    readonly principal: Principal = ANONYMOUS,
    quotaKey = principal === ANONYMOUS ? id : principal.id,
  ) {
    super(id, {}, quotaKey);
  }

  /** A listen stream. `owner` is the owner of its links that are not shared. */
  static listen(id: string, principal?: Principal, owner?: FakeClient): FakeSubscriber {
    const subscriber = new FakeSubscriber(id, principal);
    subscriber.linkOwner = owner;
    return subscriber;
  }

  get linkOwnerId(): string | undefined {
    return this.linkOwner?.id;
  }

  get scope(): Scope {
    return this.currentScope;
  }

  /** Changes its scope. */
  setScope(scope: Scope): void {
    this.currentScope = scope;
    for (const listener of this.scopeListeners) listener();
  }

  onScopeChange(listener: () => void): () => void {
    this.scopeListeners.add(listener);
    return () => this.scopeListeners.delete(listener);
  }

  onMissedEvents(listener: (queued: ReadonlySet<string>) => void): () => void {
    this.missedListeners.add(listener);
    return () => this.missedListeners.delete(listener);
  }

  /** Opens its stream again without saying which events it received, while events with these keys are queued. */
  reconnect(...queued: readonly string[]): void {
    for (const listener of this.missedListeners) listener(new Set(queued));
  }

  deliver(frame: EventFrame, options: DeliverOptions): void {
    this.delivered.push({ frame, options });
  }

  withdraw(isStale: (event: DeliverOptions) => boolean): void {
    if (this.isReading) return;
    const kept = this.delivered.filter(({ options }) => !isStale(options));
    this.delivered.splice(0, this.delivered.length, ...kept);
  }

  /** Whether all listeners were removed. */
  get hasNoListeners(): boolean {
    return [this.closeListeners, this.scopeListeners, this.missedListeners].every(({ size }) => size === 0);
  }

  /** The context of a request. */
  get context(): SessionContext {
    return this.contextWith(new Cancellation());
  }

  contextWith(signal: CancelSignal): SessionContext {
    const onWritten = (listener: () => void): void => void this.written(listener);
    const { linkOwner, scope } = this;
    return {
      linkOwner,
      subscriber: this,
      scope,
      signal,
      onWritten,
    } as unknown as SessionContext;
  }

  /** The message of each event. */
  get texts(): string[] {
    return this.delivered.map(({ frame }) => /^data: (.*)$/m.exec(frame.bytes.toString())![1]!);
  }

  /** The params of each update. */
  get updates(): Record<string, unknown>[] {
    return this.texts.map((text) => (JSON.parse(text) as Message).params ?? {});
  }

  get uris(): string[] {
    return this.updates.map(({ uri }) => String(uri));
  }
}

/** A call of a client of revision 2026-07-28, which has no session. */
export const modernCaller = (capabilities: ClientCapabilities = {}): FakeCaller =>
  Object.assign(new FakeCaller(new FakeClient('modern', capabilities)), {
    revision: MODERN_REVISION,
    session: undefined,
    capabilities,
  });
