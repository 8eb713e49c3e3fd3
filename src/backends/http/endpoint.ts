import { Pool, type Dispatcher } from 'undici';
import { PostClient, type PostClientOptions } from './post-client/post-client.js';
import type { Post, PostListener } from './post-client/post.js';
import { RequestHeaders } from './request-headers.js';
import { headerOf, type ResponseHeaders } from './response-headers.js';

/** The one URL of a server: the connections to it and the session we have there. */
export class Endpoint {
  readonly headers: RequestHeaders;
  /** The server has said that it no longer knows our session. */
  sessionLost = false;
  private readonly connections: PostClient;
  /** For what stays open or comes seldom. */
  private readonly pool: Pool;
  private readonly path: string;

  constructor(url: URL, headers: Readonly<Record<string, string>>, options: PostClientOptions) {
    this.path = url.pathname + url.search;
    this.headers = new RequestHeaders(headers, url);
    this.connections = new PostClient(url, this.headers.host, options);
    this.pool = new Pool(url.origin, {
      connections: options.connections,
      connect: { timeout: options.connectTimeoutMs },
      // Whoever waits for an answer knows for how long; a stream of events may be silent for any time.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  get sessionId(): string | undefined {
    return this.headers.sessionId;
  }

  /** A session begins with the first answer that names it, the one to `initialize`. */
  learnSession(headers: ResponseHeaders): void {
    if (this.sessionId !== undefined) return;
    const id = headerOf(headers, 'mcp-session-id');
    if (id) this.headers.sessionId = id;
  }

  post(body: string, listener: PostListener): Post {
    return this.connections.post(this.headers.post, body, listener);
  }

  get(lastEventId: string, handler: Dispatcher.DispatchHandler): void {
    this.pool.dispatch({ method: 'GET', path: this.path, headers: this.headers.get(lastEventId) }, handler);
  }

  /** Ends the session if there is one. Best effort: settles within `ms` whatever the server does. */
  endSession(ms: number): Promise<void> {
    if (this.sessionId === undefined || this.sessionLost) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      const done = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.pool.dispatch(
        { method: 'DELETE', path: this.path, headers: this.headers.delete },
        { onRequestStart: () => {}, onResponseStart: done, onResponseError: done },
      );
    });
  }

  destroy(): Promise<void> {
    this.connections.destroy();
    return this.pool.destroy();
  }
}
