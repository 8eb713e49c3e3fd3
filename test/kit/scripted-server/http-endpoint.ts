import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Message } from '../events.js';
import { bodyOf } from '../http.js';
import type { ScriptedServer } from './scripted-server.js';
import { ScriptedLink } from './scripted-link.js';

/** One session over HTTP. */
class HttpLink extends ScriptedLink {
  readonly pid = undefined;
  readonly grandchild = undefined;
  private notificationStream: ServerResponse | undefined;
  private unsent: Pick<string[], 'push' | 'splice'> = [];

  listen(response: ServerResponse, { sendsHeadAtOnce = true } = {}): void {
    if (sendsHeadAtOnce) openEvents(response);
    else response.setHeader('content-type', 'text/event-stream');
    this.notificationStream = response;
    for (const text of this.unsent.splice(0)) writeEvent(response, text);
  }

  get hasOpenStream(): boolean {
    return this.notificationStream !== undefined && !this.notificationStream.destroyed;
  }

  send(text: string): void {
    if (this.notificationStream && this.hasOpenStream) writeEvent(this.notificationStream, text);
    else this.unsent.push(text);
  }

  /** From now on, drops messages while no stream is open, as servers without replay do. */
  dropUnsentMessages(): this {
    this.unsent = { push: () => 0, splice: () => [] };
    return this;
  }

  /** Breaks the stream; the session stays open. */
  breakStream(): void {
    this.notificationStream?.destroy();
  }

  close(): void {
    this.notificationStream?.destroy();
    this.closed();
  }
}

/** Key of the only link of a server without sessions. */
const STATELESS = 'stateless';

/** The HTTP side of a scripted server: Streamable HTTP with sessions, and SSE, in their simplest form. */
export class HttpEndpoint {
  private readonly sessions = new Map<string, HttpLink>();
  private readonly sockets = new Set<Socket>();
  private lastSession = 0;
  /** Whether the server issues no session ids. */
  isStateless = false;
  /** Whether a GET opens a notification stream; otherwise it is refused with 405. */
  hasNotificationStream = true;
  /** Whether the head of a notification stream is sent at once; otherwise together with the first event. */
  sendsStreamHeadAtOnce = true;
  /** The status of a POST to the URL of the SSE stream. */
  ssePostStatus = 405;
  /** The next POSTs are refused with these statuses. */
  readonly nextPostStatuses: number[] = [];
  /** How often the server was asked for revision 2026-07-28, which it refuses as servers of 2025 do. */
  probes = 0;
  /** The method and headers of every other request. */
  readonly requests: { readonly method: string; readonly headers: IncomingHttpHeaders }[] = [];

  constructor(private readonly scripted: ScriptedServer) {}

  watch(server: Server): void {
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
  }

  breakConnections(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Expires all sessions, as after a restart: their next request gets a 404. */
  expireSessions(): void {
    for (const link of this.sessions.values()) link.close();
    this.sessions.clear();
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers['mcp-protocol-version'] === '2026-07-28') {
      this.probes++;
      response.writeHead(400).end();
      return;
    }
    this.requests.push({ method: request.method ?? '', headers: request.headers });
    const { pathname, search } = new URL(request.url ?? '/', 'http://server');
    if (pathname === '/sse')
      return request.method === 'GET'
        ? this.openSse(response)
        : void response.writeHead(this.ssePostStatus).end();
    if (pathname === '/message') return this.postSse(search.slice(1), await bodyOf(request), response);
    const id = this.isStateless ? STATELESS : request.headers['mcp-session-id'];
    const link = typeof id === 'string' ? this.sessions.get(id) : undefined;
    if (request.method === 'POST') return this.post(await bodyOf(request), id !== undefined, link, response);
    if (request.method === 'GET' && !this.hasNotificationStream) response.writeHead(405).end();
    else if (!link) response.writeHead(404).end();
    else if (request.method === 'GET') link.listen(response, { sendsHeadAtOnce: this.sendsStreamHeadAtOnce });
    else this.end(String(id), link, response);
  }

  private async post(
    text: string,
    hasSession: boolean,
    known: HttpLink | undefined,
    response: ServerResponse,
  ): Promise<void> {
    const refusal = this.nextPostStatuses.shift();
    const message = JSON.parse(text) as Message;
    if (refusal !== undefined) return void response.writeHead(refusal).end();
    if (hasSession && !known && !this.isStateless) return void response.writeHead(404).end();
    const link = known ?? this.open(response);
    const isRequest = message.method !== undefined && message.id !== undefined;
    if (!isRequest) response.writeHead(202).end();
    await this.scripted.receive(text, link, (sent) => respond(response, sent));
  }

  private open(response: ServerResponse): HttpLink {
    const [id, link] = this.newSession();
    if (this.isStateless) this.sessions.set(STATELESS, link);
    else response.setHeader('mcp-session-id', id);
    return link;
  }

  /** The notification stream of the open link; fails when there is not exactly one. */
  get stream(): Pick<HttpLink, 'breakStream' | 'dropUnsentMessages' | 'hasOpenStream'> {
    const { link } = this.scripted;
    if (link instanceof HttpLink) return link;
    throw new Error('the open link is not over HTTP');
  }

  private newSession(): [string, HttpLink] {
    const id = `session-${++this.lastSession}`;
    const link = new HttpLink();
    this.sessions.set(id, link);
    this.scripted.links.push(link);
    return [id, link];
  }

  private openSse(response: ServerResponse): void {
    const [id, link] = this.newSession();
    link.listen(response);
    response.write(`event: endpoint\ndata: /message?${id}\n\n`);
    response.once('close', () => link.close());
  }

  private async postSse(id: string, text: string, response: ServerResponse): Promise<void> {
    const link = this.sessions.get(id);
    response.writeHead(link ? 202 : 404).end();
    if (link) await this.scripted.receive(text, link, (message) => link.send(message));
  }

  private end(id: string, link: HttpLink, response: ServerResponse): void {
    this.sessions.delete(id);
    link.close();
    response.writeHead(200).end();
  }
}

/** A response alone is sent as JSON; after any earlier message, it ends an event stream. */
function respond(response: ServerResponse, text: string): void {
  if (response.destroyed) return;
  const isAnswer = !('method' in (JSON.parse(text) as Message));
  if (isAnswer && !response.headersSent) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    return;
  }
  if (!response.headersSent) openEvents(response);
  writeEvent(response, text);
  if (isAnswer) response.end();
}

function openEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
}

const writeEvent = (response: ServerResponse, text: string): void => void response.write(`data: ${text}\n\n`);
