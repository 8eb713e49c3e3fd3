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

/**
 * Sends HTTP requests with the admin token to a gateway. Every failure is a GatewayProblem. If the caller aborts a request,
 * the method rejects with the caller's abort reason.
 */
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

  /**
   * The body as a stream. The signal and the timeout end only the wait for the response; the caller must cancel the stream
   * itself.
   */
  stream(path: string, options: RequestOptions): Promise<ReadableStream<Uint8Array>> {
    return this.exchange(path, options, async (response) => {
      await this.requireSuccess(response);
      if (!response.body) throw new GatewayProblem('refused', 'the response of the gateway has no body');
      return response.body as ReadableStream<Uint8Array>;
    });
  }

  /** Returns the JSON body of a response with any status. Rejects if `isExpected` is false for the body. */
  async jsonOfAnyStatus<T>(path: string, isExpected: (body: unknown) => body is T): Promise<T> {
    return this.exchange(path, {}, async (response) => {
      const body = await this.readJson(response);
      if (!isExpected(body)) throw problemOf(response, body, this.target);
      return body;
    });
  }

  /**
   * Sends a request and reads its response with `read`. Rejects when the signal of the caller aborts or the time is over.
   * In Node 20, a garbage collection can make `fetch` lose its signal while the body is read, so `unlessAborted` ends the
   * wait for `read`. `AbortSignal.any` is not used, because a garbage collection can make it lose its signals, too.
   */
  private async exchange<T>(
    path: string,
    { signal: callerSignal, timeoutMs = REQUEST_TIMEOUT_MS, ...options }: RequestOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const controller = new AbortController();
    const { signal } = controller;
    const abort = (): void => controller.abort(callerSignal?.reason);
    const timer = setTimeout(() => controller.abort(new DOMException('', 'TimeoutError')), timeoutMs);
    callerSignal?.addEventListener('abort', abort);
    if (callerSignal?.aborted) abort();
    try {
      const result = this.fetch(path, options, signal).then(read);
      return await unlessAborted(signal, result, () => signal.reason as Error);
    } catch (error) {
      // If the caller's signal comes from `AbortSignal.timeout`, its abort means that the request took too long. This is a
      // failure of the request, like the timeout above.
      const isAbortedByCaller =
        callerSignal?.aborted === true && (callerSignal.reason as Error | undefined)?.name !== 'TimeoutError';
      if (error instanceof GatewayProblem || isAbortedByCaller) throw error;
      throw unreachable(this.target.url, error);
    } finally {
      clearTimeout(timer);
      callerSignal?.removeEventListener('abort', abort);
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
      // The target of a redirect must not receive the token.
      redirect: 'error',
    });
  }

  /** Throws the problem in the body of a response whose status is not a success. */
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
  return new GatewayProblem('not-allowed', token === undefined ? NO_TOKEN : REFUSED_TOKEN);
}

const NO_TOKEN =
  'no admin token: give --token, set GATEHOUSE_ADMIN_TOKEN, or run the command on the machine of the gateway';
const REFUSED_TOKEN = 'the gateway refused the admin token';
