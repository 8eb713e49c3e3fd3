import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { onCleanup } from './cleanup.js';

/** Forwards TCP connections to a server, and can break them or leave them half open. */
export class TcpProxy {
  private readonly sockets = new Set<Socket>();
  private readonly halfOpen = new WeakSet<Socket>();
  private readonly server: Server = createServer((near) => this.forward(near));

  private constructor(
    /** The URL of the server. A change applies to later connections. */
    public target: string,
  ) {}

  static async start(target: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await new Promise<void>((done) => proxy.server.listen(0, '127.0.0.1', done));
    onCleanup(() => {
      proxy.server.close();
      proxy.breakConnections();
    });
    return proxy;
  }

  get url(): string {
    return this.urlOf(new URL(this.target).pathname);
  }

  urlOf(path: string): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${path}`;
  }

  /** Breaks the open connections; new ones are forwarded. */
  breakConnections(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Makes the open connections lose all data, and hides from each end that the other one has closed. */
  loseData(): void {
    for (const socket of this.sockets) this.halfOpen.add(socket.unpipe().resume());
  }

  private forward(near: Socket): void {
    const { hostname, port } = new URL(this.target);
    const far = this.track(connect(Number(port), hostname));
    this.track(near).pipe(far).pipe(near);
    near.on('close', () => this.halfOpen.has(near) || far.destroy());
    far.on('close', () => this.halfOpen.has(far) || near.destroy());
  }

  private track(socket: Socket): Socket {
    this.sockets.add(socket);
    return socket.on('error', () => {}).on('close', () => this.sockets.delete(socket));
  }
}
