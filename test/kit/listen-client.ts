import type { IncomingMessage } from 'node:http';
import { onCleanup } from './cleanup.js';
import { Events, type Message } from './events.js';
import { bodyOf, openExchange } from './http.js';
import { until } from './until.js';

export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const UPDATED = 'notifications/resources/updated';

/** The envelope of a request of revision 2026-07-28. */
export const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'listener', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

export interface ListenOptions {
  readonly id?: string | number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly localAddress?: string;
}

/** Sends a message of revision 2026-07-28. */
export function postModern(
  url: string,
  message: { readonly method: string; readonly id?: string | number; readonly params?: object },
  { headers, localAddress }: ListenOptions = {},
): Promise<IncomingMessage> {
  const { method, id, params } = message;
  return openExchange(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { _meta: envelope, ...params } }),
    localAddress,
  });
}

const requestListen = (
  url: string,
  notifications: unknown,
  options: ListenOptions,
): Promise<IncomingMessage> =>
  postModern(
    url,
    { method: 'subscriptions/listen', id: options.id ?? 1, params: { notifications } },
    options,
  );

/** A stream of `subscriptions/listen`, of which the test sees every event. */
export class ListenClient {
  private constructor(
    readonly events: Events,
    private readonly response: IncomingMessage,
  ) {}

  /** Resolves with the acknowledged stream. */
  static async open(url: string, notifications: object, options: ListenOptions = {}): Promise<ListenClient> {
    const response = await requestListen(url, notifications, options);
    if (response.headers['content-type'] !== 'text/event-stream')
      throw new Error(`refused: ${await bodyOf(response)}`);
    onCleanup(() => response.destroy());
    const client = new ListenClient(new Events(response), response);
    await client.events.message('the acknowledgement', ({ method }) => method === ACKNOWLEDGED);
    return client;
  }

  /** A stream of these resources. */
  static to(url: string, ...uris: readonly string[]): Promise<ListenClient> {
    return ListenClient.open(url, { resourceSubscriptions: uris });
  }

  /** The status and message of a request that is answered without a stream. */
  static async refused(
    url: string,
    notifications: unknown,
    options: ListenOptions = {},
  ): Promise<Message & { readonly status: number }> {
    const response = await requestListen(url, notifications, options);
    if (response.headers['content-type'] === 'text/event-stream') throw new Error('it was not refused');
    return { ...(JSON.parse(await bodyOf(response)) as Message), status: response.statusCode! };
  }

  /** What the acknowledgement says is honoured. */
  get honoured(): unknown {
    return this.events.messages[0]!.params!['notifications'];
  }

  /** The params of every update so far, without `_meta` if it has only the id of the subscription. */
  get updates(): Record<string, unknown>[] {
    return this.events.messages
      .filter(({ method }) => method === UPDATED)
      .map(({ params = {} }) => withoutId(params));
  }

  get uris(): unknown[] {
    return this.updates.map(({ uri }) => uri);
  }

  get methods(): (string | undefined)[] {
    return this.events.messages.map(({ method }) => method);
  }

  /** Waits until the stream has that many updates of the resource. */
  untilUpdated(uri: string, times = 1): Promise<unknown> {
    return until(
      `the stream has ${times} updates of ${uri}`,
      () => this.uris.filter((one) => one === uri).length >= times,
    );
  }

  pause(): void {
    this.response.pause();
  }

  close(): void {
    this.response.destroy();
  }
}

function withoutId({ _meta, ...params }: Record<string, unknown>): Record<string, unknown> {
  const { [SUBSCRIPTION_ID]: _id, ...meta } = _meta as Record<string, unknown>;
  return Object.keys(meta).length === 0 ? params : { ...params, _meta: meta };
}
