import { setTimeout as pause } from 'node:timers/promises';
import { ERROR_CODES } from '../core/errors.js';
import { isJsonObject, tryParseJson } from '../lib/json-text/json-value.js';
import { RETRY_MS, type BridgeConnection } from './bridge-connection.js';
import { refusalIn, type BridgeError, type BridgeMessage, type BridgeOutput } from './bridge-message.js';

/** The id of requests that the bridge makes itself. Their answers are not forwarded. */
const OWN_ID = 'gatehouse-stdio';

/** Of a request whose connection was lost: it is repeated. */
const NO_ANSWER: BridgeError = { code: ERROR_CODES['server-unavailable'].code, message: 'no answer' };

const requestText = (method: string, uri: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: OWN_ID, method, params: { uri } });

/** What the client has subscribed to, so that the session after an expired one has the same subscriptions. */
export class BridgeSubscriptions {
  private readonly uris = new Set<string>();

  constructor(
    private readonly connection: BridgeConnection,
    private readonly out: BridgeOutput,
    /** How long a subscription to a server that is down is repeated. */
    private readonly patienceMs: number,
  ) {}

  /** Records a request that the gateway has answered with a result. */
  record({ method, uri }: BridgeMessage): void {
    if (uri === undefined) return;
    if (method === 'resources/subscribe') this.uris.add(uri);
    if (method === 'resources/unsubscribe') this.uris.delete(uri);
  }

  /** Subscribes again in the current session. The client gets one update each, because it may have missed some. */
  async restore(): Promise<void> {
    const { session } = this.connection;
    const isCurrent = (): boolean => session === this.connection.session && !this.connection.signal.aborted;
    const deadline = performance.now() + this.patienceMs;
    let waiting = [...this.uris];
    while (waiting.length > 0 && isCurrent()) {
      const unavailable: string[] = [];
      for (const uri of waiting)
        if (isCurrent() && this.uris.has(uri) && (await this.isUnavailable(uri))) unavailable.push(uri);
      waiting = unavailable;
      if (waiting.length === 0) return;
      if (performance.now() > deadline) {
        this.out.note(`subscriptions lost because their servers are unavailable: ${waiting.length}`);
        return;
      }
      await pause(RETRY_MS, undefined, { signal: this.connection.signal });
    }
  }

  /** Subscribes, and returns whether this has to be repeated. */
  private async isUnavailable(uri: string): Promise<boolean> {
    const error = await this.request('resources/subscribe', uri);
    if (error?.code === ERROR_CODES['server-unavailable'].code) return true;
    if (error) this.out.note(`the subscription to ${uri} was lost: ${error.message}`);
    // The client has unsubscribed meanwhile.
    else if (!this.uris.has(uri)) await this.request('resources/unsubscribe', uri);
    else
      await this.out.write(
        JSON.stringify({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } }),
      );
    return false;
  }

  /** The error of the answer. Rejects if the session has expired. */
  private async request(method: string, uri: string): Promise<BridgeError | undefined> {
    const body = requestText(method, uri);
    const response = await this.connection.sendWithRetries('POST', { body, isRepeatable: true });
    const texts = await this.connection.messagesOf(response);
    if (response.statusCode === 404) throw new Error('the session has expired');
    if (response.statusCode >= 400) return refusalIn(response.statusCode, texts.join(''));
    const answer = texts
      .map(tryParseJson)
      .filter(isJsonObject)
      .find(({ id }) => id === OWN_ID);
    if (!answer) return NO_ANSWER;
    return isJsonObject(answer['error']) ? (answer['error'] as unknown as BridgeError) : undefined;
  }
}
