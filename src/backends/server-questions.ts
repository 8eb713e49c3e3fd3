import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { RemoteError, ERROR_CODES, GatewayError } from '../core/errors.js';
import { JsonText } from '../core/json-text.js';
import { errorMessage, notificationMessage, resultMessage } from '../mcp/json-rpc.js';
import type { Caller, Channel } from '../mcp/mcp-context.js';
import { progressTokenOf, progressUnder } from '../mcp/progress-token.js';

/** What a server may ask of the client whose call it is working on. */
const FORWARDED = new Set(['sampling/createMessage', 'elicitation/create', 'roots/list']);

interface Question {
  readonly abort: AbortController;
  readonly channel: Channel;
}

/** The requests a server sends to us, each put to the one client it concerns. */
export class ServerQuestions {
  private readonly open = new Map<RequestId, Question>();

  constructor(private readonly send: (text: string) => void) {}

  /** `channel` is the way to the client behind the question; undefined when that is not certain. */
  ask(id: RequestId, method: string, params: string | undefined, channel: Channel | undefined): void {
    if (method === 'ping') {
      this.send(resultMessage(id, {}));
      return;
    }
    if (!FORWARDED.has(method)) {
      this.refuse(id, new GatewayError('method-not-found', `Method not found: ${method}`));
      return;
    }
    if (!channel) {
      const words = `${method}: no single client call that this could belong to (see isolation in the configuration)`;
      this.refuse(id, new GatewayError('internal', words));
      return;
    }
    void this.forward(id, method, params, channel);
  }

  /** The server takes a question back. */
  withdraw(id: RequestId): void {
    this.open.get(id)?.abort.abort();
  }

  /** A call ended: what it was asking its client is no longer wanted. */
  callerDone(caller: Caller | undefined): void {
    if (!caller || this.open.size === 0) return;
    for (const { channel, abort } of this.open.values()) if (channel === caller) abort.abort();
  }

  stop(): void {
    for (const { abort } of this.open.values()) abort.abort();
  }

  private async forward(
    id: RequestId,
    method: string,
    params: string | undefined,
    channel: Channel,
  ): Promise<void> {
    const abort = new AbortController();
    this.open.set(id, { abort, channel });
    const token = progressTokenOf(params);
    try {
      const result = await channel.ask(method, params === undefined ? undefined : new JsonText(params), {
        signal: abort.signal,
        ...(token && { onProgress: (progress: JsonText) => this.progress(progress, token) }),
      });
      this.send(resultMessage(id, result));
    } catch (error) {
      this.refuse(id, error);
    } finally {
      this.open.delete(id);
    }
  }

  private progress(params: JsonText, token: string): void {
    this.send(notificationMessage('notifications/progress', progressUnder(token, params.text)));
  }

  private refuse(id: RequestId, error: unknown): void {
    this.send(errorMessage(id, errorText(error)));
  }
}

function errorText(error: unknown): string {
  if (error instanceof RemoteError) return error.text;
  const known = error instanceof GatewayError;
  const { code } = ERROR_CODES[known ? error.kind : 'internal'];
  return JSON.stringify({ code, message: known ? error.message : 'Internal error' });
}
