import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { GatewayError } from '../../core/errors.js';
import { JsonText } from '../../lib/json-text/json-text.js';
import { notificationMessage, readMessage, requestMessage, type Inbound } from '../../mcp/json-rpc.js';
import type { Caller, Channel, ClientSession } from '../../mcp/mcp-context.js';
import { progressUnder, withProgressToken } from '../../mcp/progress-token.js';
import {
  ConnectError,
  type Link,
  type LinkRequest,
  type ServerFacts,
  type ServerNotification,
} from './link.js';
import { initializeServer, type InitializeOptions } from './initialize.js';
import { NotificationStreamState } from './notification-stream-state.js';
import {
  toTransportError,
  brokenError,
  cancelledError,
  isBadRequest,
  isSessionExpired,
  remoteError,
  timeoutError,
} from './link-errors.js';
import { LinkMonitor } from './link-monitor.js';
import { PendingRequests, type AbandonReason, type PendingRequest } from './pending-requests.js';
import { ServerRequests } from './server-requests.js';
import { TransportError, type LinkTransport, type MessageExtra, type StreamState } from './transport.js';
import { completesWithin } from '../../lib/deadlines/timeout.js';

/** How long calls in flight may still be answered on a session that the server has forgotten. */
const DRAIN_TIMEOUT_MS = 5000;
const NOTHING: readonly string[] = [];

export interface LinkOptions extends InitializeOptions {
  readonly server: string;
  /** What the server asks a client, in words that the client knows. */
  readonly toPublicParams?: ((params: JsonText) => JsonText) | undefined;
  /** The one client this link serves; absent when clients share it. */
  readonly owner?: ClientSession | undefined;
  /** After this long without a message the server is pinged, and the link closed if it does not answer. */
  readonly keepaliveIntervalMs?: number | undefined;
}

type Kind<K extends Inbound['kind']> = Extract<Inbound, { kind: K }>;

/** A link of the 2025 era over any SDK transport. Ids and tokens on it are its own; no client's ever cross it. */
export class JsonRpcLink implements Link {
  readonly closed: Promise<Error>;
  private readonly pending = new PendingRequests(
    (pending, why) => this.giveUp(pending, why),
    (caller) => this.serverRequests.hasOpenFor(caller),
  );
  private readonly serverRequests = new ServerRequests(
    (text) => this.post(text),
    (callers) => this.pending.extendDeadlines(callers),
    (params) => this.options.toPublicParams?.(params) ?? params,
  );
  private readonly notificationStream = new NotificationStreamState();
  private readonly monitor = new LinkMonitor((request) => this.request(request), {
    sessionExpired: (reason) => this.end(reason),
    keepaliveFailed: (error) => this.end(error),
  });
  private announceClosed!: (reason: Error) => void;
  private closedFor: Error | undefined;
  private closing: Promise<void> | undefined;
  private fault: TransportError | undefined;
  private listener: (notification: ServerNotification) => void = () => {};
  private serverFacts: ServerFacts | undefined;

  private constructor(
    private readonly transport: LinkTransport,
    private readonly options: LinkOptions,
  ) {
    this.closed = new Promise((resolve) => (this.announceClosed = resolve));
    transport.onmessage = (message, received) => this.receive(message, received);
    // Anything else a transport reports, such as a line that is no message, leaves the link as it is.
    transport.onerror = (error) => {
      if (error instanceof TransportError) this.fault = error;
    };
    transport.onclose = () => {
      this.end(this.fault ?? brokenError('the connection closed'));
      this.failPending();
    };
    transport.onstream = (state) => this.streamChanged(state);
  }

  /** Starts the transport and shakes hands. Whatever was started is closed again when that fails. */
  static async connect(
    transport: LinkTransport,
    options: LinkOptions,
    signal: AbortSignal,
  ): Promise<JsonRpcLink> {
    if (signal.aborted) throw brokenError('the link was closed');
    const link = new JsonRpcLink(transport, options);
    const giveUp = (): void => void link.close();
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      await transport.start();
      await link.initialize();
      return link;
    } catch (error) {
      await link.close();
      throw new ConnectError(error as Error, link.stderrTail());
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  get facts(): ServerFacts {
    if (!this.serverFacts) throw new Error('the link is not initialised');
    return this.serverFacts;
  }

  get pid(): number | undefined {
    return this.transport.pid;
  }

  stderrTail(): readonly string[] {
    return this.transport.stderrTail?.() ?? NOTHING;
  }

  onNotification(listener: (notification: ServerNotification) => void): void {
    this.listener = listener;
  }

  get notificationsReady(): Promise<void> {
    return this.notificationStream.opened;
  }

  onGap(listener: () => void): void {
    this.notificationStream.onGap(listener);
  }

  request(request: LinkRequest): Promise<JsonText> {
    return new Promise((resolve, reject) => {
      if (this.closedFor) {
        reject(new TransportError('unreachable', this.closedFor.message, {}, { cause: this.closedFor }));
        return;
      }
      if (request.caller?.signal.aborted) {
        reject(cancelledError());
        return;
      }
      const pending = this.pending.open(request, resolve, reject);
      const { params } = request;
      const own = params && pending.clientToken ? withProgressToken(params, String(pending.id)) : params;
      this.transport
        .sendText(requestMessage(pending.id, request.method, own), pending.id)
        .catch((error: Error) => this.fail(pending, toTransportError(error)));
    });
  }

  ping(): Promise<void> {
    return this.monitor.ping();
  }

  notify(method: string, params?: string): void {
    this.post(notificationMessage(method, params));
  }

  close(): Promise<void> {
    this.end(brokenError('the link was closed'));
    this.closing ??= this.finish();
    return this.closing;
  }

  private async finish(): Promise<void> {
    if (isSessionExpired(this.closedFor)) await completesWithin(this.pending.whenEmpty(), DRAIN_TIMEOUT_MS);
    this.failPending();
    await this.transport.close();
  }

  private async initialize(): Promise<void> {
    this.serverFacts = await initializeServer((request) => this.request(request), this.options);
    this.transport.setProtocolVersion?.(this.serverFacts.protocolVersion);
    await this.transport.sendText(notificationMessage('notifications/initialized', undefined));
    this.notificationStream.expect(this.transport.openNotificationStream !== undefined);
    this.transport.openNotificationStream?.();
    const { keepaliveIntervalMs } = this.options;
    if (keepaliveIntervalMs !== undefined) this.monitor.startKeepalive(keepaliveIntervalMs);
  }

  private receive(raw: JSONRPCMessage, received?: MessageExtra): void {
    this.monitor.received();
    const message = readMessage(raw, received?.text ?? JSON.stringify(raw));
    if (message.kind === 'response') this.receiveResponse(message);
    else if (message.kind === 'notification') this.receiveNotification(message, received);
    else if (message.kind === 'request') this.receiveRequest(message, received);
    else this.receiveInvalid(message, 'method' in raw);
  }

  private receiveResponse({ id, outcome, value, text }: Kind<'response'>): void {
    this.pending.answered(id);
    const pending = this.pending.get(id);
    if (!pending || !this.settle(pending)) return;
    if (outcome === 'error') pending.reject(remoteError(value, text));
    else if (text.startsWith('{')) pending.resolve(new JsonText(text, value));
    else pending.reject(brokenError('the server sent no valid answer: a result is an object'));
  }

  private receiveRequest({ id, method, paramsText }: Kind<'request'>, received?: MessageExtra): void {
    const { channel, callers } = this.origin(received);
    this.serverRequests.receive({ id, method, params: paramsText, channel, callers });
  }

  private receiveNotification(message: Kind<'notification'>, received?: MessageExtra): void {
    const { method, params = {}, paramsText } = message;
    if (method === 'notifications/progress') this.receiveProgress(params['progressToken'], paramsText);
    else if (method === 'notifications/cancelled')
      this.serverRequests.cancel(params['requestId'] as RequestId);
    else {
      const { channel, ambiguous } = this.origin(received);
      this.listener({ method, params, paramsText, channel, ambiguous });
    }
  }

  /** Whoever waits for it is told: the server will not say it again in better words. */
  private receiveInvalid({ id, problem }: Kind<'invalid'>, isQuestion: boolean): void {
    if (id === undefined) return;
    if (isQuestion) {
      this.serverRequests.reject(id, new GatewayError('invalid-request', `Invalid request: ${problem}`));
      return;
    }
    const pending = this.pending.get(id);
    if (pending && this.settle(pending))
      pending.reject(brokenError(`the server sent no valid answer: ${problem}`));
  }

  private origin(received: MessageExtra | undefined): {
    channel: Channel | undefined;
    callers: readonly Caller[];
    ambiguous: boolean;
  } {
    const { callers, ambiguous } = this.pending.origin(received?.requestId);
    return { channel: callers.at(-1) ?? this.options.owner, callers, ambiguous };
  }

  private receiveProgress(token: unknown, params: string | undefined): void {
    const pending = this.pending.get(token);
    if (!pending || params === undefined) return;
    this.pending.extendDeadline(pending);
    const { clientToken, request } = pending;
    if (clientToken === undefined) return;
    request.caller?.notify('notifications/progress', new JsonText(progressUnder(clientToken, params)));
  }

  private settle(pending: PendingRequest): boolean {
    this.serverRequests.callerFinished(pending.request.caller);
    return this.pending.remove(pending);
  }

  private fail(pending: PendingRequest, error: TransportError): void {
    if (this.settle(pending)) pending.reject(error);
    this.retireAfter(error);
  }

  private retireAfter(error: TransportError): void {
    // The server is gone or has forgotten us: this link will carry nothing any more.
    if (error.fault === 'unreachable' || error.fault === 'session-lost') this.end(error);
    else if (isBadRequest(error)) this.checkSession();
  }

  /** Before the handshake there is no session to lose. */
  private checkSession(): void {
    if (!this.closedFor && this.serverFacts) this.monitor.checkSession();
  }

  private streamChanged(state: StreamState): void {
    if (state === 'lost') this.checkSession();
    if (state === 'silent') this.checkStream();
    this.notificationStream.update(state);
  }

  /** A server that is there may have nothing to say. */
  private checkStream(): void {
    if (!this.closedFor) this.monitor.ping().catch(() => this.transport.reopenNotificationStream?.());
  }

  private giveUp(pending: PendingRequest, why: AbandonReason): void {
    if (!this.settle(pending)) return;
    this.pending.abandon(pending);
    const { method, timeoutMs } = pending.request;
    const { server } = this.options;
    this.transport.abandon?.(pending.id);
    // The handshake is the one request that must never be cancelled.
    if (method !== 'initialize')
      this.notify('notifications/cancelled', JSON.stringify({ requestId: pending.id, reason: why }));
    pending.reject(why === 'cancelled' ? cancelledError() : timeoutError(server, method, timeoutMs));
  }

  /** Sends a message that has no response; no caller waits for the outcome. */
  private post(text: string): void {
    this.transport.sendText(text).catch((error: Error) => this.retireAfter(toTransportError(error)));
  }

  private end(reason: Error): void {
    if (this.closedFor) return;
    this.closedFor = reason;
    this.monitor.stop();
    // A server that forgot us is still there: it answers what it has, and refuses the rest without running it.
    if (!isSessionExpired(reason)) this.failPending();
    this.announceClosed(reason);
  }

  private failPending(): void {
    const reason = this.closedFor;
    this.serverRequests.cancelAll();
    for (const pending of this.pending.removeAll())
      pending.reject(brokenError(reason?.message ?? 'the link was closed', { cause: reason }));
  }
}
