import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onCleanup } from './cleanup.js';

/** A way to a server over which connections can be broken, as networks do. */
export interface Cuttable {
  readonly url: string;
  /** Breaks all there are; new ones are let through. */
  cut(): void;
}

export async function cuttable(url: string): Promise<Cuttable> {
  const { hostname, port, pathname } = new URL(url);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    const far = keep(connect(Number(port), hostname));
    keep(near).pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  onCleanup(() => {
    server.close();
    cut();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`, cut };
}
