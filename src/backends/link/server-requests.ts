import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { answerTo, GatewayError, RemoteError } from '../../core/errors.js';
import { JsonText } from '../../lib/json-text/json-text.js';
import { errorMessage, notificationMessage, resultMessage } from '../../mcp/json-rpc.js';
import type { Caller, Channel } from '../../mcp/mcp-context.js';
import { progressTokenOf, progressUnder } from '../../mcp/progress-token.js';

/** What a server may ask of the client whose call it is working on. */
const FORWARDED = new Set(['sampling/createMessage', 'elicitation/create', 'roots/list']);

/** One request of a server. */
export interface ServerRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: string | undefined;
  /** The way to the client behind it; undefined when that is not certain. */
  readonly channel: Channel | undefined;
  /** The calls of that client which may have caused it. */
  readonly callers: readonly Caller[];
}

interface ForwardedRequest {
  readonly abort: AbortController;
  /** The calls that may still wait for the answer. */
  readonly callers: Set<Caller>;
}

/** The requests a server sends to us, each put to the one client it concerns. */
export class ServerRequests {
  private readonly open = new Map<RequestId, ForwardedRequest>();

  constructor(
    private readonly send: (text: string) => void,
    /** The client has had its say: the server has what these calls were waiting for. */
    private readonly onSettled: (callers: ReadonlySet<Caller>) => void,
    /** The params as clients understand them. */
    private readonly translate: (params: JsonText) => JsonText = (params) => params,
  ) {}

  receive(request: ServerRequest): void {
    const { id, method, channel } = request;
    if (method === 'ping') {
      this.send(resultMessage(id, {}));
      return;
    }
    if (!FORWARDED.has(method)) {
      this.reject(id, new GatewayError('method-not-found', `Method not found: ${method}`));
      return;
    }
    if (!channel) {
      const words = `${method}: no single client call that this could belong to (see isolation in the configuration)`;
      this.reject(id, new GatewayError('internal', words));
      return;
    }
    void this.forward(request, channel);
  }

  reject(id: RequestId, error: unknown): void {
    this.send(errorMessage(id, errorText(error)));
  }

  /** The server takes a question back: it wants no answer any more. */
  cancel(id: RequestId): void {
    const question = this.open.get(id);
    this.open.delete(id);
    question?.abort.abort();
  }

  hasOpenFor(caller: Caller): boolean {
    for (const { callers } of this.open.values()) if (callers.has(caller)) return true;
    return false;
  }

  /** A call ended. What only it can have asked is no longer wanted. */
  callerFinished(caller: Caller | undefined): void {
    if (!caller || this.open.size === 0) return;
    for (const { callers, abort } of this.open.values())
      if (callers.delete(caller) && callers.size === 0) abort.abort();
  }

  /** The server is gone, and its questions with it. */
  cancelAll(): void {
    for (const id of this.open.keys()) this.cancel(id);
  }

  private async forward(request: ServerRequest, channel: Channel): Promise<void> {
    const { id, callers } = request;
    const question: ForwardedRequest = { abort: new AbortController(), callers: new Set(callers) };
    this.open.set(id, question);
    const reply = await this.responseOf(channel, request, question.abort.signal);
    if (this.open.get(id) !== question) return;
    this.open.delete(id);
    this.onSettled(question.callers);
    this.send(reply);
  }

  private async responseOf(
    channel: Channel,
    { id, method, params }: ServerRequest,
    signal: AbortSignal,
  ): Promise<string> {
    const token = progressTokenOf(params);
    try {
      const question = params === undefined ? undefined : this.translate(new JsonText(params));
      const result = await channel.sendRequest(method, question, {
        signal,
        ...(token && { onProgress: (progress: JsonText) => this.progress(progress, token) }),
      });
      return resultMessage(id, result);
    } catch (error) {
      return errorMessage(id, errorText(error));
    }
  }

  private progress(params: JsonText, token: string): void {
    this.send(notificationMessage('notifications/progress', progressUnder(token, params.text)));
  }
}

function errorText(error: unknown): string {
  if (error instanceof RemoteError) return error.text;
  const known = error instanceof GatewayError;
  const { code } = answerTo(known ? error.kind : 'internal', '2025');
  return JSON.stringify({ code, message: known ? error.message : 'Internal error' });
}
