import type { Server, Socket } from 'node:net';
import { readTcpTable, unacknowledgedIn } from './tcp-table.js';

type EndPoints = Pick<Socket, 'localPort' | 'remoteAddress' | 'remotePort'>;

const CHECK_INTERVAL_MS = 10_000;
/** Retransmission intervals double from 0.2 s, or more with a long round trip: at least 25 s without an acknowledgement. */
const MAX_RETRANSMISSIONS = 7;

/**
 * Closes connections to peers whose machine or network vanished. TCP keep-alive probes only connections without
 * unacknowledged data; the keep-alive comments of a stream are such data, and Linux retransmits them for a quarter of an
 * hour. Node can neither set that limit nor report acknowledgements, so the detector reads the kernel's TCP table.
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

/** The kernel's table has link-local addresses without their zone. */
const keyOf = ({ localPort, remoteAddress, remotePort }: EndPoints): string =>
  `${localPort} ${remoteAddress?.split('%')[0]} ${remotePort}`;
