import { randomInt } from 'node:crypto';
import type { ClientCapabilities, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { GatewayError, RemoteError } from '../core/errors.js';
import { MemoryLimitError } from '../core/memory-limits.js';
import { JsonText } from '../lib/json-text/json-text.js';
import { lineSteps } from '../lib/json-text/sliced-text.js';
import { runSliced, type Steps } from '../lib/slices/run-sliced.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { isJsonObject } from '../lib/json-text/json-value.js';
import type { OutgoingMessage } from '../mcp/event-frame.js';
import { notificationMessage, requestMessage, requestParts, type Inbound } from '../mcp/json-rpc.js';
import type { ClientRequestOptions } from '../mcp/mcp-context.js';
import { progressTokenOf, withProgressToken, withProgressTokenSteps } from '../mcp/params.js';

/** A request that waits for the response of the client. */
interface PendingRequest {
  resolve(result: JsonText): void;
  reject(error: Error): void;
  readonly onProgress: ClientRequestOptions['onProgress'];
}

/** Maximum number of requests that wait for the response of one client. */
export const MAX_OPEN_REQUESTS = 64;

/**
 * Ids start at a random number, because a session outlives the process: the client may respond to a request of the
 * previous process, and this process must not have sent a request with the same id. With 2^30, all ids fit into 32
 * bits.
 */
const FIRST_ID = randomInt(1, 2 ** 30);

/**
 * Forwards requests of servers to the client of one session. Each request gets a new id, which is unique in the
 * session.
 */
export class RequestsToClient {
  private readonly pendingRequests = new Map<RequestId, PendingRequest>();

  /** `streamQueue` is the maximum number of events in the queue of a stream. Here it is used only in an error. */
  constructor(
    private readonly streamQueue: number,
    private readonly capabilities: () => ClientCapabilities,
    private lastId = FIRST_ID,
  ) {}

  /**
   * Sends a request, and resolves with the result of the client. Rejects if the client responds with an error, if
   * `signal` is aborted, or if a limit is reached. `write` sends a message to the client, and returns false if the
   * stream refuses it.
   */
  async send(
    method: string,
    params: JsonText | undefined,
    { signal, onProgress }: ClientRequestOptions,
    write: (message: OutgoingMessage) => boolean,
  ): Promise<JsonText> {
    if (!supportsRequest(this.capabilities(), method, params))
      throw new GatewayError('method-not-found', `The client does not support ${method}`);
    const id = ++this.lastId;
    const message = params?.isLongObject
      ? requestParts(id, method, await runSliced(longParams(params, id), sliceScheduler.start()))
      : shortRequest(id, method, params?.text);
    // The call during which the server sent the request may have ended while the params were rewritten.
    if (signal.aborted) throw cancelledError();
    if (this.pendingRequests.size >= MAX_OPEN_REQUESTS) throw tooManyError();
    return new Promise<JsonText>((resolve, reject) => {
      const cancel = (): void => {
        this.pendingRequests.delete(id);
        write(notificationMessage('notifications/cancelled', JSON.stringify({ requestId: id })));
        reject(cancelledError());
      };
      const stopListening = (): void => signal.removeEventListener('abort', cancel);
      this.pendingRequests.set(id, {
        onProgress,
        resolve: (result) => {
          stopListening();
          resolve(result);
        },
        reject: (error) => {
          stopListening();
          reject(error);
        },
      });
      signal.addEventListener('abort', cancel, { once: true });
      if (write(message)) return;
      this.pendingRequests.get(id)?.reject(notReadingError(this.streamQueue));
      this.pendingRequests.delete(id);
    });
  }

  /** Passes a response of the client on. Returns false if no pending request has its id. */
  receive(response: Extract<Inbound, { kind: 'response' }>): boolean {
    const request = this.pendingRequests.get(response.id);
    if (!request) return false;
    this.pendingRequests.delete(response.id);
    if (response.outcome === 'result') request.resolve(response.json);
    else request.reject(remoteError(response.json));
    return true;
  }

  receiveProgress(token: unknown, params: string): void {
    this.pendingRequests.get(token as RequestId)?.onProgress?.(new JsonText(params));
  }

  close(): void {
    const requests = [...this.pendingRequests.values()];
    this.pendingRequests.clear();
    for (const request of requests)
      request.reject(new GatewayError('cancelled', "The client's session was closed"));
  }
}

// These two functions replace the server's progress token by the id of the request. `String(id)` is the JSON text of the id.

function shortRequest(id: number, method: string, params: string | undefined): string {
  const hasToken = params !== undefined && progressTokenOf(params);
  return requestMessage(id, method, hasToken ? withProgressToken(params, String(id)) : params);
}

function* longParams(params: JsonText, id: number): Steps<Buffer> {
  return yield* lineSteps(yield* withProgressTokenSteps(params, String(id)));
}

const tooManyError = (): MemoryLimitError =>
  new MemoryLimitError(
    'client-requests',
    MAX_OPEN_REQUESTS,
    `${MAX_OPEN_REQUESTS} requests wait for the response of this client`,
  );

const notReadingError = (streamQueue: number): MemoryLimitError =>
  new MemoryLimitError('stream-queue', streamQueue, 'the client does not read its stream');

const cancelledError = (): GatewayError => new GatewayError('cancelled', 'The request was cancelled');

function remoteError(json: JsonText): RemoteError {
  const { code, message } = json.value as { code: unknown; message: unknown };
  return new RemoteError(Number(code), String(message), json.text);
}

/** Whether the client declared the capability that the request needs. */
export const supportsRequest = (
  capabilities: ClientCapabilities,
  method: string,
  params: JsonText | undefined,
): boolean => missingCapabilities(capabilities, method, params) === undefined;

/**
 * The capabilities that the request needs and the client did not declare. Undefined if the client supports the request.
 * Empty for a method that no client supports.
 */
export function missingCapabilities(
  { sampling, roots, elicitation }: ClientCapabilities,
  method: string,
  params: JsonText | undefined,
): ClientCapabilities | undefined {
  if (method === 'sampling/createMessage') return sampling ? undefined : { sampling: {} };
  if (method === 'roots/list') return roots ? undefined : { roots: {} };
  if (method !== 'elicitation/create') return {};
  const value: unknown = params?.toJSON();
  if (isJsonObject(value) && value['mode'] === 'url')
    return elicitation?.url ? undefined : { elicitation: { url: {} } };
  // A client that declares no mode supports forms: revision 2025-11-25 says so, and earlier ones have no modes.
  const supportsForms = elicitation && (elicitation.form !== undefined || elicitation.url === undefined);
  return supportsForms ? undefined : { elicitation: { form: {} } };
}
