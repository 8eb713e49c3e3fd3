import type { Server, Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { readTcpTable, unacknowledgedIn } from './tcp-table.js';

type EndPoints = Pick<Socket, 'localPort' | 'remoteAddress' | 'remotePort'>;

const CHECK_INTERVAL_MS = 10_000;
/**
 * A connection with this many retransmissions is dead. Linux waits at least 0.2 s before the first retransmission, and
 * twice as long before each further one, so that seven retransmissions take at least 25 s.
 */
const MAX_RETRANSMISSIONS = 7;

/**
 * Closes connections to peers whose machine or network has vanished. TCP keep-alive does not find these peers, because it
 * probes only connections without unacknowledged data. On an event stream, the gateway regularly writes a comment, and
 * such a peer does not acknowledge it. Linux retransmits the comment for a quarter of an hour. Node can neither change
 * this time nor report acknowledgements, so this class reads the TCP table of the kernel.
 */
export class DeadPeerDetector {
  private readonly sockets = new Set<Socket>();
  private readonly logger = new Logger('DeadPeerDetector');
  private isReading = false;
  /** Whether the last read failed. Only the first of several failures is logged. */
  private hasFailed = false;

  constructor(private readonly read: () => AsyncIterable<string> = readTcpTable) {}

  watch(server: Server): void {
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    server.once('listening', () => {
      const timer = setInterval(() => void this.closeDeadConnections(), CHECK_INTERVAL_MS).unref();
      server.once('close', () => clearInterval(timer));
    });
  }

  private async closeDeadConnections(): Promise<void> {
    if (this.isReading || this.sockets.size === 0) return;
    this.isReading = true;
    try {
      const dead = await this.findDead();
      this.hasFailed = false;
      if (dead.size === 0) return;
      for (const socket of this.sockets) if (dead.has(keyOf(socket))) socket.destroy();
    } catch (error) {
      if (!this.hasFailed)
        this.logger.warn({ message: 'the TCP table cannot be read', cause: String(error) });
      this.hasFailed = true;
    } finally {
      this.isReading = false;
    }
  }

  /** The keys of the connections whose peer has not acknowledged data for too long. */
  private async findDead(): Promise<ReadonlySet<string>> {
    const dead = new Set<string>();
    for await (const lines of this.read())
      for (const connection of unacknowledgedIn(lines))
        if (connection.retransmissions >= MAX_RETRANSMISSIONS) dead.add(keyOf(connection));
    return dead;
  }
}

/** Identifies a connection. The zone of a link-local address is removed, because the kernel's table has no zones. */
const keyOf = ({ localPort, remoteAddress, remotePort }: EndPoints): string =>
  `${localPort} ${remoteAddress?.split('%')[0]} ${remotePort}`;
