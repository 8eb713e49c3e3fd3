import { unlessAborted } from '../lib/cancellation/unless-aborted.js';
import { GatewayProblem, unreachable, type GatewayProblemKind } from './gateway-problem.js';
import type { GatewayTarget } from './gateway-target.js';

const REQUEST_TIMEOUT_MS = 15_000;

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Sent as JSON. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
}

/** HTTP requests to a gateway with the admin token. Every failure is a GatewayProblem, except when the caller aborts. */
export class AdminRequests {
  constructor(private readonly target: GatewayTarget) {}

  json(path: string, options: RequestOptions): Promise<unknown> {
    return this.exchange(path, options, async (response) => {
      await this.requireSuccess(response);
      return this.readJson(response);
    });
  }

  /** For requests whose response has no body. */
  send(path: string, options: RequestOptions): Promise<void> {
    return this.exchange(path, options, (response) => this.requireSuccess(response));
  }

  /** The body as a stream. The signal and the timeout end only the wait for the response; the caller cancels the stream. */
  stream(path: string, options: RequestOptions): Promise<ReadableStream<Uint8Array>> {
    return this.exchange(path, options, async (response) => {
      await this.requireSuccess(response);
      if (!response.body) throw new GatewayProblem('refused', 'the response of the gateway has no body');
      return response.body as ReadableStream<Uint8Array>;
    });
  }

  /** The JSON body of a response with any status. A body for which `isExpected` is false is a failure. */
  async jsonOfAnyStatus<T>(path: string, isExpected: (body: unknown) => body is T): Promise<T> {
    return this.exchange(path, {}, async (response) => {
      const body = await this.readJson(response);
      if (!isExpected(body)) throw problemOf(response, body, this.target);
      return body;
    });
  }

  /**
   * Sends a request and reads its response, until the signal aborts or the time is over. Does so without `AbortSignal.any`
   * and without the signal of `fetch` for the body, because a garbage collection makes Node 20 lose both.
   */
  private async exchange<T>(
    path: string,
    { signal: outer, timeoutMs = REQUEST_TIMEOUT_MS, ...options }: RequestOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const controller = new AbortController();
    const { signal } = controller;
    const abort = (): void => controller.abort(outer?.reason);
    const timer = setTimeout(() => controller.abort(new DOMException('', 'TimeoutError')), timeoutMs);
    outer?.addEventListener('abort', abort);
    if (outer?.aborted) abort();
    try {
      const exchange = this.fetch(path, options, signal).then(read);
      return await unlessAborted(signal, exchange, () => signal.reason as Error);
    } catch (error) {
      const isAborted =
        outer?.aborted === true && (outer.reason as Error | undefined)?.name !== 'TimeoutError';
      throw error instanceof GatewayProblem || isAborted ? error : unreachable(this.target.url, error);
    } finally {
      clearTimeout(timer);
      outer?.removeEventListener('abort', abort);
    }
  }

  private fetch(
    path: string,
    { method = 'GET', body, headers }: RequestOptions,
    signal: AbortSignal,
  ): Promise<Response> {
    const { url, token } = this.target;
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    return fetch(`${url}/${path}`, {
      method,
      headers: {
        accept: 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': contentType }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
      signal,
      // A redirect must not receive the token.
      redirect: 'error',
    });
  }

  private async requireSuccess(response: Response): Promise<void> {
    if (response.ok) return;
    const body = await this.readJson(response).catch(() => ({}));
    throw problemOf(response, body, this.target);
  }

  private async readJson(response: Response): Promise<unknown> {
    const text = await response.text();
    try {
      return text === '' ? {} : (JSON.parse(text) as unknown);
    } catch (cause) {
      const message = `${this.target.url} is not a Gatehouse gateway (status ${response.status})`;
      throw new GatewayProblem('refused', message, { cause });
    }
  }
}

const KINDS: Readonly<Record<number, GatewayProblemKind>> = {
  401: 'not-allowed',
  403: 'not-allowed',
  404: 'not-found',
};

function problemOf({ status }: Response, body: unknown, { token }: GatewayTarget): GatewayProblem {
  const { title, detail } = body as { title?: unknown; detail?: unknown };
  const text = [detail, title].find((part) => typeof part === 'string' && part !== '');
  const message = typeof text === 'string' ? text : `the gateway responded with status ${status}`;
  if (status !== 401) return new GatewayProblem(KINDS[status] ?? 'refused', message);
  const advice =
    token === undefined
      ? 'no admin token: give --token, set GATEHOUSE_ADMIN_TOKEN, or run the command on the machine of the gateway'
      : 'the gateway refused the admin token';
  return new GatewayProblem('not-allowed', advice);
}
