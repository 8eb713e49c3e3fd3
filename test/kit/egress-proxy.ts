import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { onCleanup } from './cleanup.js';
import { within } from './until.js';

/**
 * A proxy for CONNECT and for requests in absolute form. It connects to 127.0.0.1 instead of the requested host, so that names
 * which do not exist lead to servers of the test.
 */
export class EgressProxy {
  /** Method, target, Host header and credentials of each request. */
  readonly requests: { method: string; target: string; host?: string; authorization?: string }[] = [];
  /** The text that answers CONNECT. If it is undefined, the proxy opens a tunnel. */
  connectResponse: string | undefined;
  port = 0;
  private readonly sockets = new Set<Duplex>();
  private readonly server = createServer((request, response) => this.forward(request, response));

  static async start(): Promise<EgressProxy> {
    const proxy = new EgressProxy();
    proxy.server.on('connect', (request, socket) => proxy.tunnel(request, socket));
    proxy.server.on('connection', (socket) => proxy.track(socket));
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    proxy.port = (proxy.server.address() as AddressInfo).port;
    onCleanup(() => proxy.stop());
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  count(method: string): number {
    return this.requests.filter((request) => request.method === method).length;
  }

  private async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await within('the proxy to close', closed);
  }

  private track(socket: Duplex): void {
    this.sockets.add(socket);
    socket.on('error', () => {}).on('close', () => this.sockets.delete(socket));
  }

  private record({ method = '', url = '', headers }: IncomingMessage): void {
    const { host, 'proxy-authorization': authorization } = headers;
    this.requests.push({
      method,
      target: url,
      ...(host !== undefined && { host }),
      ...(authorization !== undefined && { authorization }),
    });
  }

  private tunnel(request: IncomingMessage, socket: Duplex): void {
    this.record(request);
    if (this.connectResponse !== undefined) return void socket.write(this.connectResponse);
    const server: Socket = connect(Number(request.url!.split(':').at(-1)), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(server).pipe(socket);
    });
    this.track(server);
    server.on('close', () => socket.destroy());
    socket.on('close', () => server.destroy());
  }

  private forward(request: IncomingMessage, response: ServerResponse): void {
    this.record(request);
    const { port, pathname, search } = new URL(request.url!);
    const { method, headers } = request;
    const outgoing = httpRequest(
      { host: '127.0.0.1', port, path: pathname + search, method, headers },
      (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        response.flushHeaders();
        answer.pipe(response);
      },
    );
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    request.pipe(outgoing);
  }
}
