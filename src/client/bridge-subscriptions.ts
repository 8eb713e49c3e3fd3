import { setTimeout as pause } from 'node:timers/promises';
import { ERROR_CODES } from '../core/errors.js';
import { isJsonObject, tryParseJson } from '../lib/json-text/json-value.js';
import { RETRY_MS, type BridgeConnection } from './bridge-connection.js';
import { refusalIn, type BridgeError, type BridgeMessage, type BridgeOutput } from './bridge-message.js';

/** The id of requests that the bridge makes itself. Their answers are not forwarded. */
const OWN_ID = 'gatehouse-stdio';

/** The error of a request without an answer. It has the code of an unavailable server, so that the request is repeated. */
const NO_ANSWER: BridgeError = { code: ERROR_CODES['server-unavailable'].code, message: 'no answer' };

const requestText = (method: string, uri: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: OWN_ID, method, params: { uri } });

/**
 * Records the subscriptions of the client and makes them again in a new session, when the session of the client has
 * expired.
 */
export class BridgeSubscriptions {
  private readonly uris = new Set<string>();

  constructor(
    private readonly connection: BridgeConnection,
    private readonly out: BridgeOutput,
    /** How long `restore` repeats subscriptions to servers that are unavailable. */
    private readonly restoreMs: number,
  ) {}

  /** Records a request of the client that the gateway has answered with a result. */
  record({ method, uri }: BridgeMessage): void {
    if (uri === undefined) return;
    if (method === 'resources/subscribe') this.uris.add(uri);
    if (method === 'resources/unsubscribe') this.uris.delete(uri);
  }

  /**
   * Subscribes again in the current session. The client gets an update of each resource, because it may have missed
   * updates. Ends early when there is another session.
   */
  async restore(): Promise<void> {
    const { session } = this.connection;
    const isCurrent = (): boolean => session === this.connection.session && !this.connection.signal.aborted;
    const deadline = performance.now() + this.restoreMs;
    let remaining = [...this.uris];
    while (remaining.length > 0 && isCurrent()) {
      const unavailable: string[] = [];
      for (const uri of remaining)
        if (isCurrent() && this.uris.has(uri) && (await this.subscribe(uri)) === 'server-unavailable')
          unavailable.push(uri);
      remaining = unavailable;
      if (remaining.length === 0) return;
      if (performance.now() > deadline) {
        this.out.note(`subscriptions lost because their servers are unavailable: ${remaining.length}`);
        return;
      }
      await pause(RETRY_MS, undefined, { signal: this.connection.signal });
    }
  }

  /** Subscribes to one resource. A subscription that the gateway refuses is reported and not repeated. */
  private async subscribe(uri: string): Promise<'done' | 'server-unavailable'> {
    const error = await this.request('resources/subscribe', uri);
    if (error?.code === ERROR_CODES['server-unavailable'].code) return 'server-unavailable';
    const wasUnsubscribedMeanwhile = !this.uris.has(uri);
    if (error) this.out.note(`the subscription to ${uri} was lost: ${error.message}`);
    else if (wasUnsubscribedMeanwhile) await this.request('resources/unsubscribe', uri);
    else
      await this.out.write(
        JSON.stringify({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } }),
      );
    return 'done';
  }

  /** Resolves with the error of the answer, or undefined for a result. Rejects if the session has expired. */
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
