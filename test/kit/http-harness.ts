import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import {
  StreamableHttpTransport,
  type StreamableHttpOptions,
} from '../../src/backends/http/streamable-http-transport.js';
import type { MessageExtra } from '../../src/backends/link/transport.js';

/** A real HTTP server that runs the script of a spec, and the transport under test connected to it. */

const PATIENCE_MS = 4000;

/** Rejects when it takes too long, naming what did not come. */
export function soon<T>(what: string, event: Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`waited too long for ${what}`)), patienceMs);
    event.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Things in the order in which they came; `next` waits for the first that was not taken yet. */
export class Arrivals<T> {
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
      await soon(this.what, new Promise<void>((resolve) => (this.wake = resolve)));
    }
    return this.all[this.taken++] as T;
  }
}

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The id of the JSON-RPC message in it. */
  readonly id: unknown;
  readonly response: ServerResponse;
  readonly socket: Socket;
  /** Settles when the connection is gone. */
  readonly disconnected: Promise<void>;
}

export type Script = (asked: Asked) => unknown;

export class ScriptedServer {
  readonly asked = new Arrivals<Asked>('a request');
  readonly sockets = new Set<Socket>();
  connections = 0;
  port = 0;
  private readonly server: Server;

  private constructor(private readonly script: Script) {
    this.server = createServer((request, response) => {
      const { method = '', url = '', headers, socket } = request;
      const disconnected = new Promise<void>((resolve) => response.once('close', resolve));
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const { id } = (text ? JSON.parse(text) : {}) as { id?: unknown };
        const asked = { method, url, headers, text, id, response, socket, disconnected };
        this.asked.add(asked);
        void this.script(asked);
      });
    });
    this.server.on('connection', (socket) => {
      this.connections++;
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  static async start(script: Script = () => {}, port = 0): Promise<ScriptedServer> {
    const server = new ScriptedServer(script);
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

export const answerText = (id: unknown, result: unknown = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result });

export const sendJson = (response: ServerResponse, text: string, status = 200, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
};

export const openEvents = (response: ServerResponse, headers = {}): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers }).flushHeaders();
};

/** What the owner of a transport gets to see. */
export function watch(transport: StreamableHttpTransport) {
  const messages = new Arrivals<{ message: unknown; received: MessageExtra | undefined }>('a message');
  const errors = new Arrivals<Error>('an error');
  const states = new Arrivals<string>('a state of the stream');
  const closes = new Arrivals<true>('the close');
  const onmessage: StreamableHttpTransport['onmessage'] = (message, received) =>
    messages.add({ message, received });
  Object.assign(transport, {
    onmessage,
    onerror: errors.add,
    onstream: states.add,
    onclose: () => closes.add(true),
  });
  return { messages, errors, states, closes };
}

/** The fault a promise rejects with; `done` when it does not. */
export const faultOf = (settled: Promise<void>): Promise<unknown> =>
  soon(
    'an exchange to settle',
    settled.then(
      () => 'done',
      (error: { fault?: string }) => error.fault ?? error,
    ),
  );

/** Servers and transports of one test; `release` closes them. */
export class HttpHarness {
  private readonly releases: (() => Promise<unknown>)[] = [];

  readonly release = async (): Promise<void> => {
    for (const release of this.releases.splice(0)) await release();
  };

  after(release: () => Promise<unknown>): void {
    this.releases.push(release);
  }

  transportTo(url: string, options: StreamableHttpOptions = {}, headers = {}): StreamableHttpTransport {
    const transport = new StreamableHttpTransport({ url, headers }, options);
    this.after(() => transport.close());
    return transport;
  }

  async serve(script: Script, options: StreamableHttpOptions = {}, headers = {}) {
    const server = await ScriptedServer.start(script);
    const transport = this.transportTo(server.url, options, headers);
    this.after(() => server.stop());
    return { server, transport, ...watch(transport) };
  }
}
