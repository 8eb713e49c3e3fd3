import type {
  ClientCapabilities,
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { GatewayError, RemoteError } from '../core/errors.js';
import { JsonText, memberText } from '../core/json-text.js';
import { isObject, notificationMessage, requestMessage } from '../mcp/json-rpc.js';
import type { Channel, McpClient } from '../mcp/mcp-context.js';
import { progressUnder, withProgressToken } from '../mcp/progress-token.js';
import { LATEST, revisionOf } from '../mcp/revisions/revision.js';
import type { Link, LinkRequest, ServerFacts, ServerNotification } from './link.js';
import { PendingRequests, type GivenUp, type Pending } from './pending-requests.js';
import { ServerQuestions } from './server-questions.js';
import { TransportError, type LinkTransport, type Received } from './transport.js';

export interface LinkOptions {
  readonly server: string;
  readonly version: string;
  readonly connectTimeoutMs: number;
  /** What the gateway can do for the server at this link. */
  readonly capabilities: ClientCapabilities;
  /** The one client this link serves; absent when clients share it. */
  readonly owner?: McpClient | undefined;
}

/** A link of the 2025 era over any SDK transport. Ids and tokens on it are its own; no client's ever cross it. */
export class JsonRpcLink implements Link {
  readonly closed: Promise<Error>;
  private readonly pending = new PendingRequests((pending, why) => this.giveUp(pending, why));
  private readonly questions = new ServerQuestions((text) => this.post(text));
  private announceClosed!: (reason: Error) => void;
  private closedFor: Error | undefined;
  private lastError: Error | undefined;
  private listener: (notification: ServerNotification) => void = () => {};
  private serverFacts: ServerFacts | undefined;

  private constructor(
    private readonly transport: LinkTransport,
    private readonly options: LinkOptions,
  ) {
    this.closed = new Promise((resolve) => (this.announceClosed = resolve));
    transport.onmessage = (message, received) => this.receive(message, received);
    transport.onerror = (error) => (this.lastError = error);
    transport.onclose = () =>
      this.end(this.lastError ?? new TransportError('broken', 'the connection closed'));
  }

  /** Starts the transport and shakes hands. Whatever was started is closed again when that fails. */
  static async connect(
    transport: LinkTransport,
    options: LinkOptions,
    signal: AbortSignal,
  ): Promise<JsonRpcLink> {
    const link = new JsonRpcLink(transport, options);
    const giveUp = (): void => void link.close();
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      await transport.start();
      await link.initialize();
      return link;
    } catch (error) {
      await link.close();
      throw error;
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
    return this.transport.stderrTail?.() ?? [];
  }

  onNotification(listener: (notification: ServerNotification) => void): void {
    this.listener = listener;
  }

  request(request: LinkRequest): Promise<JsonText> {
    return new Promise((resolve, reject) => {
      if (this.closedFor) {
        reject(new TransportError('unreachable', this.closedFor.message, {}, { cause: this.closedFor }));
        return;
      }
      const pending = this.pending.open(request, resolve, reject);
      const { params } = request;
      const own = params && pending.clientToken ? withProgressToken(params, String(pending.id)) : params;
      this.transmit(requestMessage(pending.id, request.method, own), pending.id).catch((error: Error) =>
        this.fail(pending, error),
      );
    });
  }

  notify(method: string, params?: string): void {
    this.post(notificationMessage(method, params));
  }

  async close(): Promise<void> {
    this.end(new TransportError('broken', 'the link was closed'));
    await this.transport.close();
  }

  private async initialize(): Promise<void> {
    const { capabilities, version, connectTimeoutMs } = this.options;
    const clientInfo = { name: 'gatehouse', version };
    const result = await this.request({
      method: 'initialize',
      timeoutMs: connectTimeoutMs,
      params: JSON.stringify({ protocolVersion: LATEST.version, capabilities, clientInfo }),
    });
    const facts = JSON.parse(result.text) as Partial<ServerFacts>;
    if (!revisionOf(facts.protocolVersion))
      throw new TransportError('refused', `the server speaks MCP ${facts.protocolVersion}, which we do not`);
    this.serverFacts = { ...facts, capabilities: facts.capabilities ?? {} } as ServerFacts;
    this.transport.setProtocolVersion?.(this.serverFacts.protocolVersion);
    await this.transmit(notificationMessage('notifications/initialized', undefined));
    this.transport.openStandingStream?.();
  }

  private receive(message: JSONRPCMessage, received?: Received): void {
    if ('method' in message) {
      if ('id' in message) this.receiveQuestion(message, received);
      else this.receiveNotification(message, received);
      return;
    }
    const pending = this.pending.get(message.id);
    if (!pending || !this.settle(pending)) return;
    if ('error' in message) {
      const text = received?.text && memberText(received.text, 'error');
      const { code, message: words } = message.error;
      pending.reject(new RemoteError(code, words, text ?? JSON.stringify(message.error)));
      return;
    }
    const text = received?.text && memberText(received.text, 'result');
    pending.resolve(new JsonText(text ?? JSON.stringify(message.result)));
  }

  private receiveQuestion(message: JSONRPCRequest, received: Received | undefined): void {
    const { channel } = this.origin(received);
    this.questions.ask(message.id, message.method, paramsText(message, received), channel);
  }

  private receiveNotification(message: JSONRPCNotification, received: Received | undefined): void {
    const { method } = message;
    const params = isObject(message.params) ? message.params : {};
    const text = paramsText(message, received);
    if (method === 'notifications/progress') this.receiveProgress(params['progressToken'], text);
    else if (method === 'notifications/cancelled') this.questions.withdraw(params['requestId'] as RequestId);
    else this.listener({ method, params, paramsText: text, ...this.origin(received) });
  }

  private origin(received: Received | undefined): { channel: Channel | undefined; ambiguous: boolean } {
    const { caller, ambiguous } = this.pending.origin(received?.requestId);
    return { channel: caller ?? this.options.owner, ambiguous };
  }

  private receiveProgress(token: unknown, params: string | undefined): void {
    const pending = this.pending.get(token);
    if (!pending || params === undefined) return;
    this.pending.prolong(pending);
    const { clientToken, request } = pending;
    if (clientToken === undefined) return;
    request.caller?.notify('notifications/progress', new JsonText(progressUnder(clientToken, params)));
  }

  private settle(pending: Pending): boolean {
    this.questions.callerDone(pending.request.caller);
    return this.pending.settle(pending);
  }

  private fail(pending: Pending, error: Error): void {
    if (this.settle(pending)) pending.reject(error);
    if (!(error instanceof TransportError)) return;
    // The server is gone or has forgotten us: this link will carry nothing any more.
    if (error.fault === 'unreachable' || error.fault === 'session-lost') this.end(error);
  }

  private giveUp(pending: Pending, why: GivenUp): void {
    if (!this.settle(pending)) return;
    const { method, timeoutMs } = pending.request;
    const { server } = this.options;
    this.transport.abandon?.(pending.id);
    // The handshake is the one request that must never be cancelled.
    if (method !== 'initialize')
      this.notify('notifications/cancelled', JSON.stringify({ requestId: pending.id, reason: why }));
    pending.reject(
      why === 'cancelled'
        ? new GatewayError('cancelled', 'The request was cancelled')
        : new GatewayError(
            'timeout',
            `TIMEOUT: server ${server} did not answer ${method} within ${timeoutMs} ms`,
            {
              code: 'TIMEOUT',
              server,
            },
          ),
    );
  }

  private transmit(text: string, requestId?: RequestId): Promise<void> {
    const { transport } = this;
    return transport.sendText?.(text, requestId) ?? transport.send(JSON.parse(text) as JSONRPCMessage);
  }

  /** Sends what has no answer. If it cannot be sent, the link is failing and its requests will say so. */
  private post(text: string): void {
    this.transmit(text).catch((error: Error) => (this.lastError = error));
  }

  private end(reason: Error): void {
    if (this.closedFor) return;
    this.closedFor = reason;
    this.questions.stop();
    for (const pending of this.pending.abandonAll())
      pending.reject(new TransportError('broken', reason.message, {}, { cause: reason }));
    this.announceClosed(reason);
  }
}

function paramsText(message: JSONRPCRequest | JSONRPCNotification, received?: Received): string | undefined {
  if (message.params === undefined) return undefined;
  return (received?.text && memberText(received.text, 'params')) ?? JSON.stringify(message.params);
}
