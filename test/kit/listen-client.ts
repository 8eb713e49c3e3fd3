import { onCleanup } from './cleanup.js';
import type { Events, Message } from './events.js';
import { exchange, type RawResponse } from './http.js';
import { envelopeOf, MODERN_VERSION, postModern, streamModern, type ModernOptions } from './modern-calls.js';
import { BOTH_TYPES } from './raw-session.js';
import { until } from './until.js';

export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
const LISTEN = 'subscriptions/listen';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const UPDATED = 'notifications/resources/updated';

/** A stream of `subscriptions/listen`, of which the test sees every event. */
export class ListenClient {
  private constructor(readonly events: Events) {}

  /** Opens a stream. Resolves when it is acknowledged. */
  static async open(url: string, notifications: object, options: ModernOptions = {}): Promise<ListenClient> {
    const events = await streamModern(url, LISTEN, { notifications }, options);
    onCleanup(() => events.disconnect());
    await events.message('the acknowledgement', ({ method }) => method === ACKNOWLEDGED);
    return new ListenClient(events);
  }

  /** A stream of these resources. */
  static to(url: string, ...uris: readonly string[]): Promise<ListenClient> {
    return ListenClient.open(url, { resourceSubscriptions: uris });
  }

  /** The status and message of a request that is answered without a stream. */
  static async refused(
    url: string,
    notifications: unknown,
    options: ModernOptions = {},
  ): Promise<Message & { readonly status: number }> {
    const { status, text } = await postModern(url, LISTEN, { notifications }, options);
    return { ...(JSON.parse(text) as Message), status };
  }

  /** The notifications that the acknowledgement promises. */
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

  close(): void {
    this.events.disconnect();
  }
}

/** Sends the notification with which the SDK closes a stream. */
export const postCancelled = (url: string, requestId: string | number): Promise<RawResponse> =>
  exchange(url, {
    method: 'POST',
    headers: {
      accept: BOTH_TYPES,
      'content-type': 'application/json',
      'mcp-protocol-version': MODERN_VERSION,
      'mcp-method': 'notifications/cancelled',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId, _meta: envelopeOf() },
    }),
  });

function withoutId({ _meta, ...params }: Record<string, unknown>): Record<string, unknown> {
  const meta = Object.entries(_meta as object).filter(([key]) => key !== SUBSCRIPTION_ID);
  return meta.length === 0 ? params : { ...params, _meta: Object.fromEntries(meta) };
}
