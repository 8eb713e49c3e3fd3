import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { HttpTransport } from '../../src/backends/http/http-transport.js';
import {
  StreamableHttpTransport,
  type StreamableHttpOptions,
} from '../../src/backends/http/streamable-http-transport.js';
import { within } from './until.js';

/** Items in the order in which they arrived; `next` waits for the first one that was not taken yet. */
export class ArrivalQueue<T> {
  readonly all: T[] = [];
  private taken = 0;
  private wake: () => void = () => {};

  constructor(private readonly what: string) {}

  readonly add = (item: T): void => {
    this.all.push(item);
    this.wake();
  };

  async next(): Promise<T> {
    while (this.all.length <= this.taken) {
      await within(this.what, new Promise<void>((resolve) => (this.wake = resolve)));
    }
    return this.all[this.taken++] as T;
  }
}

export interface IncomingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The id of the JSON-RPC message in it. */
  readonly id: unknown;
  readonly response: ServerResponse;
  readonly socket: Socket;
  /** Settles when the response was closed. */
  readonly disconnected: Promise<void>;
}

export type RequestScript = (request: IncomingRequest) => unknown;

/** A real HTTP server that records its requests and answers them with the script of the spec. */
export class ScriptedHttpServer {
  readonly requests = new ArrivalQueue<IncomingRequest>('a request');
  readonly sockets = new Set<Socket>();
  connections = 0;
  port = 0;
  private readonly server: Server;

  private constructor(private readonly script: RequestScript) {
    this.server = createServer((request, response) => {
      const { method = '', url = '', headers, socket } = request;
      const disconnected = new Promise<void>((resolve) => response.once('close', resolve));
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const { id } = (text ? JSON.parse(text) : {}) as { id?: unknown };
        const incoming = { method, url, headers, text, id, response, socket, disconnected };
        this.requests.add(incoming);
        void this.script(incoming);
      });
    });
    this.server.on('connection', (socket) => {
      this.connections++;
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  static async start(script: RequestScript = () => {}, port = 0): Promise<ScriptedHttpServer> {
    const server = new ScriptedHttpServer(script);
    server.server.listen(port, '127.0.0.1');
    await once(server.server, 'listening');
    server.port = (server.server.address() as AddressInfo).port;
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  async stop(): Promise<void> {
    const stopped = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await stopped;
  }
}

/** A `tools/call` request. */
export const callText = (id: number, params = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });

export const responseText = (id: unknown, result: unknown = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result });

export const sendJson = (response: ServerResponse, text: string, status = 200, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
};

export const startEventStream = (response: ServerResponse, headers = {}): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers }).flushHeaders();
};

/** A message with what the transport reports about it. */
interface Arrival {
  readonly message: unknown;
  readonly received: { readonly text: string; readonly requestId?: RequestId };
}

/** Records what a transport reports to its owner. */
export function observe(transport: HttpTransport) {
  const messages = new ArrivalQueue<Arrival>('a message');
  const errors = new ArrivalQueue<Error>('an error');
  const states = new ArrivalQueue<string>('a state of the stream');
  const closes = new ArrivalQueue<true>('the close');
  const onmessage: HttpTransport['onmessage'] = (message, { document, requestId } = {}) =>
    messages.add({
      message,
      received: { text: document!.text, ...(requestId !== undefined && { requestId }) },
    });
  Object.assign(transport, {
    onmessage,
    onerror: errors.add,
    onstream: states.add,
    onclose: () => closes.add(true),
  });
  return { messages, errors, states, closes };
}

/** The fault that a request rejects with; `done` when it resolves. */
export const faultOf = (request: Promise<void>): Promise<unknown> =>
  within(
    'a request to settle',
    request.then(
      () => 'done',
      (error: { fault?: string }) => error.fault ?? error,
    ),
  );

/** Starts the transport under test and the server that it connects to. `release` closes all of them. */
export class HttpHarness {
  private readonly releases: (() => Promise<unknown>)[] = [];

  readonly release = async (): Promise<void> => {
    for (const release of this.releases.splice(0)) await release();
  };

  onRelease(release: () => Promise<unknown>): void {
    this.releases.push(release);
  }

  transportTo(url: string, options: StreamableHttpOptions = {}, headers = {}): StreamableHttpTransport {
    const transport = new StreamableHttpTransport({ url, headers }, options);
    this.onRelease(() => transport.close());
    return transport;
  }

  async serve(script: RequestScript, options: StreamableHttpOptions = {}, headers = {}) {
    const server = await ScriptedHttpServer.start(script);
    const transport = this.transportTo(server.url, options, headers);
    this.onRelease(() => server.stop());
    return { server, transport, ...observe(transport) };
  }
}
