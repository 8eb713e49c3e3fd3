import type { ClientCapabilities, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { GatewayError, RemoteError } from '../core/errors.js';
import { JsonText } from '../lib/json-text/json-text.js';
import { isObject, notificationMessage, requestMessage, type Inbound } from '../mcp/json-rpc.js';
import type { ClientRequestOptions } from '../mcp/mcp-context.js';
import { progressTokenOf, withProgressToken } from '../mcp/progress-token.js';

interface PendingRequest {
  resolve(result: JsonText): void;
  reject(error: Error): void;
  readonly onProgress: ClientRequestOptions['onProgress'];
}

/** What servers ask one client, and its answers. The ids and progress tokens are the session's own. */
export class ClientRequests {
  private readonly pending = new Map<RequestId, PendingRequest>();
  private lastId = 0;

  /** `send` puts a message on the stream where the question belongs. */
  send(
    method: string,
    params: JsonText | undefined,
    { signal, onProgress }: ClientRequestOptions,
    send: (message: string) => void,
  ): Promise<JsonText> {
    const id = ++this.lastId;
    const text = params?.text;
    const own = text && progressTokenOf(text) ? withProgressToken(text, String(id)) : text;
    return new Promise((resolve, reject) => {
      const withdraw = (): void => {
        this.pending.delete(id);
        send(notificationMessage('notifications/cancelled', JSON.stringify({ requestId: id })));
        reject(new GatewayError('cancelled', 'The question was withdrawn'));
      };
      const done = (): void => signal.removeEventListener('abort', withdraw);
      this.pending.set(id, {
        onProgress,
        resolve: (result) => (done(), resolve(result)),
        reject: (error) => (done(), reject(error)),
      });
      signal.addEventListener('abort', withdraw, { once: true });
      send(requestMessage(id, method, own));
    });
  }

  /** False when nobody asked. */
  receive(response: Extract<Inbound, { kind: 'response' }>): boolean {
    const question = this.pending.get(response.id);
    if (!question) return false;
    this.pending.delete(response.id);
    if (response.outcome === 'result') question.resolve(new JsonText(response.text));
    else question.reject(remoteError(response.text));
    return true;
  }

  receiveProgress(token: unknown, params: string): void {
    this.pending.get(token as RequestId)?.onProgress?.(new JsonText(params));
  }

  /** The client is gone: nobody will answer. */
  close(): void {
    const questions = [...this.pending.values()];
    this.pending.clear();
    for (const question of questions) question.reject(new GatewayError('cancelled', 'The client is gone'));
  }
}

function remoteError(text: string): RemoteError {
  const { code, message } = JSON.parse(text) as { code: unknown; message: unknown };
  return new RemoteError(Number(code), String(message), text);
}

/** Whether a client said it can be asked this. */
export function supportsRequest(
  capabilities: ClientCapabilities,
  method: string,
  params: JsonText | undefined,
): boolean {
  if (method === 'sampling/createMessage') return capabilities.sampling !== undefined;
  if (method === 'roots/list') return capabilities.roots !== undefined;
  const { elicitation } = capabilities;
  if (method !== 'elicitation/create' || elicitation === undefined) return false;
  const asked: unknown = params?.toJSON();
  const mode = isObject(asked) && asked['mode'] === 'url' ? 'url' : 'form';
  // A client of an older revision says only that it can elicit, which then means by form.
  return elicitation[mode] !== undefined || (mode === 'form' && Object.keys(elicitation).length === 0);
}
