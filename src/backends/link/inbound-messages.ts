import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { GatewayError } from '../../core/errors.js';
import type { MemoryLimit } from '../../core/memory-limits.js';
import { JsonDocument } from '../../lib/json-text/json-document.js';
import { JsonProblem, JsonReader } from '../../lib/json-text/json-reader.js';
import { JsonText } from '../../lib/json-text/json-text.js';
import type { JsonLimit } from '../../lib/json-text/json-scanner.js';
import { withoutSubscriptionId } from '../../mcp/envelope.js';
import { SERVER_JSON_LIMITS } from '../../mcp/json-limits.js';
import { isMessage, readMessage, requestIdIn, type Inbound, type Params } from '../../mcp/json-rpc.js';
import type { LinkOwner } from '../../mcp/mcp-context.js';
import { paramsWithoutTask } from '../../mcp/params.js';
import { InboundLimiter, MAX_WAITING_TEXT_LENGTH, type ExcessOutcome } from './inbound-limiter.js';
import { brokenError, isOverLimit } from './link-errors.js';
import type { LinkMonitor } from './link-monitor.js';
import { ACKNOWLEDGED } from './listen-stream.js';
import type { LinkWarnings } from './link-warnings.js';
import type { ServerNotification } from './link.js';
import type { MessageOrigin } from './message-origins.js';
import type { PendingRequests } from './pending-requests.js';
import { FORWARDED_METHODS, type ServerRequests } from './server-requests.js';
import type { MessageExtra } from './transport.js';

/**
 * The kinds of server messages that must reach only the client, or the call, to which they belong. `message`: a log message
 * (`notifications/message`).
 */
export type AttributableMessage = 'message' | 'progress' | 'request';

/** Maximum bytes of the params of a request or an acknowledgement: as much as a client may send by default. */
const MAX_PARAMS_BYTES = 4_194_304;
/** Maximum bytes of the params of any other notification. They are decoded, changed and encoded in one slice. */
const MAX_NOTIFICATION_PARAMS_BYTES = 1_048_576;

const maxParamsBytesOf = (message: JSONRPCMessage): number =>
  'method' in message && !('id' in message) && message.method !== ACKNOWLEDGED
    ? MAX_NOTIFICATION_PARAMS_BYTES
    : MAX_PARAMS_BYTES;

/** A character takes at most this number of bytes in UTF-8. */
const MAX_CHARACTER_BYTES = 4;
/** Reads the messages that have waited because they were beyond the rate. */
const WAITING_MESSAGES = new JsonReader({
  ...SERVER_JSON_LIMITS,
  maxBytes: MAX_WAITING_TEXT_LENGTH * MAX_CHARACTER_BYTES,
});

const paramsOf = ({ paramsJson, paramsText }: Extract<Inbound, { kind: 'request' }>): JsonText | undefined =>
  paramsJson ?? (paramsText === undefined ? undefined : new JsonText(paramsText));

export interface InboundOptions {
  /** Called for every message of the server that was not read because it exceeds a JSON limit. */
  readonly onRefusedJson?: ((limit: JsonLimit) => void) | undefined;
  /** Called for every message of the server that is not valid JSON-RPC. */
  readonly onMalformed?: (() => void) | undefined;
  /** Called for every message of the server beyond the rate of unsolicited messages. */
  readonly onExcess?: ((outcome: ExcessOutcome) => void) | undefined;
  /** Called when a message of the server is refused because of a memory limit. */
  readonly onMemoryLimit?: ((limit: MemoryLimit) => void) | undefined;
  /** Called for every message that was dropped or refused because its client is not known, or because it was not allowed. */
  readonly onUnattributed?: ((message: AttributableMessage) => void) | undefined;
  /** The owner of this link; absent when clients share the link. */
  readonly owner?: LinkOwner | undefined;
}

const LATE_MESSAGES_CAUSE =
  'they could reach another client, so messages without an origin are dropped and requests refused ' +
  'for 1 s after a call of another client; isolation: session keeps them';

interface InboundMessagesEvents {
  /** Updates or list changes were dropped because they were beyond the rate. */
  lost(): void;
  /** A message that waited because it was beyond the rate could not be processed. */
  failed(error: Error): void;
}

/**
 * Dispatches the messages of a server on one link: responses to the pending requests, requests to `ServerRequests`,
 * notifications to the listener. Limits the rate of unsolicited messages.
 */
export class InboundMessages {
  readonly limiter: InboundLimiter;
  /** Called with every notification except progress and cancellations. */
  notificationListener: (notification: ServerNotification) => void = () => {};
  /** Called before the listener, except with log messages. If it returns false, the listener is not called. */
  subscriptionFilter: ((method: string, params: Params, paramsText?: string) => boolean) | undefined;

  constructor(
    private readonly pending: Pick<
      PendingRequests,
      'respond' | 'fail' | 'origin' | 'receivedOutsideCalls' | 'receiveProgress' | 'expectMessagesSince'
    >,
    private readonly serverRequests: Pick<ServerRequests, 'receive' | 'reject' | 'cancel'>,
    private readonly monitor: Pick<LinkMonitor, 'received'>,
    private readonly warnings: LinkWarnings,
    private readonly events: InboundMessagesEvents,
    private readonly options: InboundOptions,
  ) {
    this.limiter = new InboundLimiter({
      deliver: (text) => this.receiveText(text),
      excess: (outcome) => this.countExcess(outcome),
      malformed: () => options.onMalformed?.(),
      lost: () => events.lost(),
      delayed: (time) => pending.expectMessagesSince(time),
    });
  }

  /** Called by the transport for each message. */
  receive(raw: JSONRPCMessage, extra?: MessageExtra): void {
    this.monitor.received++;
    const document = extra?.document ?? JsonDocument.of(JSON.stringify(raw));
    const maxParamsBytes = maxParamsBytesOf(raw);
    if ('method' in raw && document.memberLength('params') > maxParamsBytes) {
      const problem = `has params of more than ${maxParamsBytes} bytes`;
      return this.receiveRefused(new JsonProblem('size', problem, document));
    }
    const message = readMessage(document);
    if (message.kind === 'response') {
      if (!this.pending.respond(message)) this.limiter.charge();
    } else if (message.kind === 'invalid') {
      if (message.memoryLimit) this.options.onMemoryLimit?.(message.memoryLimit);
      else this.options.onMalformed?.();
      this.receiveInvalid(message.id, message.problem, 'method' in raw);
    } else if (this.limiter.accepts(message.method, document)) {
      if (message.kind === 'notification') this.receiveNotification(message, extra?.requestId);
      else this.receiveRequest(message, extra?.requestId);
    }
  }

  /** Called by the transport for each message that exceeds a JSON limit. */
  receiveRefused(problem: JsonProblem): void {
    this.monitor.received++;
    if (isOverLimit(problem.reason)) this.options.onRefusedJson?.(problem.reason);
    const isRequest = problem.document?.memberText('method') !== undefined;
    this.receiveInvalid(requestIdIn(problem), `the message ${problem.message}`, isRequest);
  }

  /**
   * Receives a message that has waited because it was beyond the rate. It is processed as if it had come on no response stream,
   * because that stream is not stored.
   */
  private receiveText(text: string): void {
    const document = WAITING_MESSAGES.read(Buffer.from(text));
    if (document instanceof JsonProblem || !isMessage(document.value)) {
      this.limiter.chargeMalformed();
      return;
    }
    try {
      this.receive(document.value, { document });
    } catch (error) {
      this.events.failed(error as Error);
    }
  }

  private countExcess(outcome: ExcessOutcome): void {
    this.options.onExcess?.(outcome);
    this.warnings.add('the server sends more messages than its rate allows');
  }

  private receiveRequest(
    message: Extract<Inbound, { kind: 'request' }>,
    streamRequestId: RequestId | undefined,
  ): void {
    const { id, method } = message;
    const params = paramsWithoutTask(message.params, paramsOf(message));
    const { owner } = this.options;
    const origin = this.pending.origin(streamRequestId);
    if (FORWARDED_METHODS.has(method)) this.checkOrder(origin);
    const { callers } = origin;
    const channel = callers.at(-1) ?? owner;
    const isOfCall = owner === undefined || streamRequestId !== undefined;
    this.serverRequests.receive({ id, method, params, channel, callers, isOfCall });
  }

  private receiveNotification(
    message: Extract<Inbound, { kind: 'notification' }>,
    streamRequestId: RequestId | undefined,
  ): void {
    const { method, params = {}, paramsText } = message;
    if (method === 'notifications/progress') {
      const isKnown =
        paramsText !== undefined && this.pending.receiveProgress(params['progressToken'], paramsText);
      if (!isKnown) this.options.onUnattributed?.('progress');
    } else if (method === 'notifications/cancelled') {
      this.serverRequests.cancel(params['requestId'] as RequestId);
    } else if (method === 'notifications/message') {
      const origin = this.pending.origin(streamRequestId);
      this.checkOrder(origin);
      const channel = origin.callers.at(-1) ?? this.options.owner;
      // The message may contain data of one client, and it is not known which client that is.
      if (origin.isAmbiguous && !channel) this.options.onUnattributed?.('message');
      else this.notificationListener({ method, params, paramsText, channel });
    } else if (!this.subscriptionFilter)
      this.notificationListener({ method, params, paramsText, channel: undefined });
    else if (this.subscriptionFilter(method, params, paramsText)) {
      const text = paramsText && withoutSubscriptionId(paramsText);
      this.notificationListener({ method, params, paramsText: text, channel: undefined });
    }
  }

  /** Detects, on a link that clients share, that the server sends messages of a call after its response. */
  private checkOrder({ isOutsideCalls, isAmbiguous }: MessageOrigin): void {
    if (isOutsideCalls && !this.options.owner && this.pending.receivedOutsideCalls(isAmbiguous))
      this.warnings.add('the server sends messages after its responses', LATE_MESSAGES_CAUSE);
  }

  /** Refuses an invalid request of the server, or fails the pending request to which an invalid response belongs. */
  private receiveInvalid(id: RequestId | undefined, problem: string, isRequest: boolean): void {
    this.limiter.charge();
    this.warnings.add('the server sent an invalid message', problem);
    if (id === undefined) return;
    if (isRequest)
      this.serverRequests.reject(id, new GatewayError('invalid-request', `Invalid request: ${problem}`));
    else this.pending.fail(id, brokenError(`the server sent an invalid response: ${problem}`));
  }
}
