import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { JsonRpcLink } from '../../src/backends/link/json-rpc-link.js';
import type { LinkOptions } from '../../src/backends/link/link-options.js';
import { JsonDocument } from '../../src/lib/json-text/json-document.js';
import type { JsonProblem } from '../../src/lib/json-text/json-reader.js';
import type {
  InboundGate,
  LinkTransport,
  MessageExtra,
  StreamState,
} from '../../src/backends/link/transport.js';
import { LATEST_REVISION } from '../../src/mcp/revisions/revision.js';

/** A message that the link under test has sent. */
export interface Sent {
  readonly text: string;
  /** Lines of further HTTP headers. */
  readonly headers?: string | undefined;
  readonly id?: RequestId;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface TransportScript {
  /** The result of `initialize`; `null` leaves the request unanswered. */
  readonly facts?: object | null;
  /** Whether one stream has all messages, as with stdio, so that there is no notification stream. */
  readonly hasOneStream?: boolean;
  start?(): Promise<void>;
  /** Called for each message that is sent; a throw or rejection fails the delivery. */
  onSend?(sent: Sent): unknown;
  onClose?(): Promise<void>;
}

export const FACTS = {
  protocolVersion: LATEST_REVISION.version,
  capabilities: { tools: {}, prompts: {}, logging: {} },
  serverInfo: { name: 'scripted', version: '1' },
};

/** An in-memory transport: the spec acts as the server and sends every message itself. */
export class FakeTransport implements LinkTransport {
  onmessage?: ((message: JSONRPCMessage, received?: MessageExtra) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onstream?: ((state: StreamState) => void) | undefined;
  onclose?: (() => void) | undefined;
  onrefused?: ((problem: JsonProblem) => void) | undefined;
  inbound?: InboundGate | undefined;

  /** Everything sent after the handshake, in order. */
  readonly sent: Sent[] = [];
  readonly handshake: Sent[] = [];
  readonly abandoned: RequestId[] = [];
  readonly stderr: string[] = [];
  starts = 0;
  closes = 0;
  protocolVersion: string | undefined;
  hasNotificationStream = false;
  /** How often the notification stream was reopened. */
  reopens = 0;
  pid: number | undefined;

  constructor(private readonly script: TransportScript = {}) {
    if (script.hasOneStream) Object.assign(this, { openNotificationStream: undefined });
  }

  async start(): Promise<void> {
    this.starts++;
    await this.script.start?.();
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.take(JSON.stringify(message));
  }

  sendText(text: string, _requestId?: RequestId, headers?: string): Promise<void> {
    return this.take(text, headers);
  }

  setProtocolVersion(version: string | undefined): void {
    this.protocolVersion = version;
  }

  openNotificationStream(): void {
    this.hasNotificationStream = true;
  }

  reopenNotificationStream(): void {
    this.reopens++;
  }

  abandon(requestId: RequestId): void {
    this.abandoned.push(requestId);
  }

  stderrTail(): readonly string[] {
    return this.stderr;
  }

  async close(): Promise<void> {
    this.closes++;
    await this.script.onClose?.();
    this.onclose?.();
  }

  /** The only message of this method so far. Throws when there is none or more than one. */
  only(method: string): Sent {
    const found = this.all(method);
    if (found.length !== 1) throw new Error(`${found.length} messages ${method}`);
    return found[0]!;
  }

  all(method: string): Sent[] {
    return this.sent.filter((sent) => sent.method === method);
  }

  /** The response of the link to a request of the server. */
  replyTo(id: RequestId): Sent | undefined {
    return this.sent.find((sent) => sent.id === id && sent.method === undefined);
  }

  answer(id: RequestId | undefined, result: unknown): void {
    this.receive({ id, result });
  }

  refuse(id: RequestId | undefined, error: unknown): void {
    this.receive({ id, error });
  }

  notify(method: string, params?: unknown, requestId?: RequestId): void {
    this.receive({ method, params }, requestId);
  }

  request(id: RequestId, method: string, params?: unknown, requestId?: RequestId): void {
    this.receive({ id, method, params }, requestId);
  }

  /** Receives any message. `requestId` is the request on whose stream it came, if the transport reports one. */
  receive(message: object, requestId?: RequestId): void {
    this.receiveText(JSON.stringify({ jsonrpc: '2.0', ...message }), requestId);
  }

  receiveText(text: string, requestId?: RequestId): void {
    const document = JsonDocument.of(text);
    this.onmessage?.(
      document.value as JSONRPCMessage,
      requestId === undefined ? { document } : { document, requestId },
    );
  }

  /** Closes the connection. */
  disconnect(error?: Error): void {
    if (error) this.onerror?.(error);
    this.onclose?.();
  }

  private async take(text: string, headers?: string): Promise<void> {
    const sent: Sent = { ...(JSON.parse(text) as Omit<Sent, 'text'>), text, headers };
    const isHandshake = sent.method === 'initialize' || sent.method === 'notifications/initialized';
    (isHandshake ? this.handshake : this.sent).push(sent);
    await this.script.onSend?.(sent);
    const { facts = FACTS } = this.script;
    if (sent.method === 'initialize' && facts !== null) this.answer(sent.id, facts);
  }
}

export const LINK_OPTIONS: LinkOptions = {
  server: 'db',
  version: '9.9',
  connectTimeoutMs: 1000,
  capabilities: { sampling: {} },
};

/** A connected link and its transport. */
export async function linkTo(
  script: TransportScript = {},
  options: Partial<LinkOptions> = {},
): Promise<{ transport: FakeTransport; link: JsonRpcLink }> {
  const transport = new FakeTransport(script);
  const { signal } = new AbortController();
  const link = await JsonRpcLink.connect(transport, { ...LINK_OPTIONS, ...options }, signal);
  return { transport, link };
}
