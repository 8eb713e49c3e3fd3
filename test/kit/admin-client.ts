import { AdminContract } from './admin-contract.js';
import { Events } from './events.js';
import type { Gateway } from './gateway.js';
import { exchange, openExchange, type RawResponse } from './http.js';

export const ADMIN_TOKEN = 'admin-token-of-the-tests';
export const VIEWER_TOKEN = 'viewer-token-of-the-tests';

export interface AdminAnswer extends RawResponse {
  /** The body as JSON; an empty object when there is none. */
  readonly json: Record<string, unknown>;
}

export interface AdminOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const contract = new AdminContract();

/** A client of the admin API. Keeps every response, and checks each against the OpenAPI document. */
export class AdminClient {
  readonly answers: string[] = [];

  constructor(
    private readonly gateway: Gateway,
    /** Null for requests without a token. */
    private readonly token: string | null = ADMIN_TOKEN,
  ) {}

  get(path: string, options?: AdminOptions): Promise<AdminAnswer> {
    return this.send('GET', path, options);
  }

  post(path: string, options?: AdminOptions): Promise<AdminAnswer> {
    return this.send('POST', path, options);
  }

  put(path: string, body: unknown, headers?: Record<string, string>): Promise<AdminAnswer> {
    return this.send('PUT', path, { body, ...(headers && { headers }) });
  }

  patch(path: string, body: unknown, headers?: Record<string, string>): Promise<AdminAnswer> {
    return this.send('PATCH', path, {
      body,
      headers: { 'content-type': 'application/merge-patch+json', ...headers },
    });
  }

  delete(path: string, options?: AdminOptions): Promise<AdminAnswer> {
    return this.send('DELETE', path, options);
  }

  /** A body that is text is sent unchanged. */
  async send(method: string, path: string, { body, headers }: AdminOptions = {}): Promise<AdminAnswer> {
    const answer = await exchange(this.urlOf(path), {
      method,
      headers: {
        ...this.authorization,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    contract.check(method, this.urlOf(path), answer);
    this.answers.push(`${JSON.stringify(answer.headers)}\n${answer.text}`);
    const isJson = /json/.test(answer.headers['content-type'] ?? '');
    return { ...answer, json: isJson ? (JSON.parse(answer.text) as Record<string, unknown>) : {} };
  }

  async events(): Promise<Events> {
    return new Events(await openExchange(this.urlOf('events'), { headers: this.authorization }));
  }

  private get authorization(): Record<string, string> {
    return this.token === null ? {} : { authorization: `Bearer ${this.token}` };
  }

  private urlOf(path: string): string {
    return this.gateway.urlOf(path.startsWith('/') ? path : `/admin/v1/${path}`);
  }
}
