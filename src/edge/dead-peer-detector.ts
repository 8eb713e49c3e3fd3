import type { Server, Socket } from 'node:net';
import { readTcpTable, unacknowledgedIn } from './tcp-table.js';

type EndPoints = Pick<Socket, 'localPort' | 'remoteAddress' | 'remotePort'>;

const CHECK_INTERVAL_MS = 10_000;
/** The pauses between them double from 0.2 s on, or more where the way is long: a silence of 25 s at least. */
const MAX_RETRANSMISSIONS = 7;

/**
 * Lets go of clients whose machine or network vanished without a word. The kernel probes only a connection on which
 * nothing is under way. A comment that keeps a stream alive soon is, and is sent again for a quarter of an hour. Node can
 * neither shorten that nor say what was acknowledged; the kernel's own table does.
 */
export class DeadPeerDetector {
  private readonly open = new Set<Socket>();
  private isReading = false;

  constructor(private readonly read: () => AsyncIterable<string> = readTcpTable) {}

  watch(server: Server): void {
    server.on('connection', (socket) => {
      this.open.add(socket);
      socket.once('close', () => this.open.delete(socket));
    });
    server.once('listening', () => {
      const timer = setInterval(() => void this.closeDead(), CHECK_INTERVAL_MS).unref();
      server.once('close', () => clearInterval(timer));
    });
  }

  private async closeDead(): Promise<void> {
    if (this.isReading || this.open.size === 0) return;
    this.isReading = true;
    const lost = new Set<string>();
    for await (const lines of this.read())
      for (const connection of unacknowledgedIn(lines))
        if (connection.retransmissions >= MAX_RETRANSMISSIONS) lost.add(keyOf(connection));
    this.isReading = false;
    if (lost.size === 0) return;
    for (const socket of this.open) if (lost.has(keyOf(socket))) socket.destroy();
  }
}

/** The zone of a link-local address is not in the table. */
const keyOf = ({ localPort, remoteAddress, remotePort }: EndPoints): string =>
  `${localPort} ${remoteAddress?.split('%')[0]} ${remotePort}`;
