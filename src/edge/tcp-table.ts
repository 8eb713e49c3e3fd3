import { open, type FileHandle } from 'node:fs/promises';
import { SocketAddress } from 'node:net';

/** A TCP connection whose peer has not acknowledged all data. */
interface UnacknowledgedConnection {
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** Number of retransmissions since the peer's last acknowledgement. */
  readonly retransmissions: number;
}

const TCP_TABLE_FILES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
/**
 * A line of a connection whose retransmission timer (01) runs. The columns: slot, local and remote address, state,
 * queues, timer, number of retransmissions.
 */
const RETRANSMITTING_LINE =
  /^ *\d+: \w+:(\w{4}) ([\dA-F]{8}|[\dA-F]{32}):(\w{4}) \w\w \w+:\w+ 01:\w+ (\w{8})/gm;

/** Has room for an incomplete line and what the kernel returns in one read: at most one page of memory. */
const buffer = Buffer.allocUnsafeSlow(16_384);

/**
 * Reads Linux's table of the TCP connections in this network namespace. Yields chunks of whole lines, and nothing on
 * other systems. There must be only one reader at a time, because all readers share one buffer.
 */
export async function* readTcpTable(
  files: readonly string[] = TCP_TABLE_FILES,
): AsyncGenerator<string, void> {
  for (const file of files) {
    const table = await open(file).catch(() => undefined);
    if (!table) continue;
    try {
      yield* linesOf(table);
    } finally {
      await table.close();
    }
  }
}

async function* linesOf(table: FileHandle): AsyncGenerator<string, void> {
  let filledBytes = 0;
  for (;;) {
    const { bytesRead } = await table.read(buffer, filledBytes, buffer.length - filledBytes);
    if (bytesRead === 0) return;
    filledBytes += bytesRead;
    const end = buffer.lastIndexOf('\n', filledBytes - 1) + 1;
    yield buffer.toString('latin1', 0, end);
    // Moves the incomplete last line to the start of the buffer.
    buffer.copyWithin(0, end, filledBytes);
    filledBytes -= end;
  }
}

/** Of the connections in these lines of the table, those whose peer has not acknowledged all data. */
export function* unacknowledgedIn(lines: string): Iterable<UnacknowledgedConnection> {
  for (const [, localPort, remoteAddress, remotePort, retransmissions] of lines.matchAll(RETRANSMITTING_LINE))
    yield {
      localPort: parseInt(localPort!, 16),
      remoteAddress: addressOf(remoteAddress!),
      remotePort: parseInt(remotePort!, 16),
      retransmissions: parseInt(retransmissions!, 16),
    };
}

/** The address as Node writes it. In the table, it consists of little-endian words of four bytes in hex. */
function addressOf(hex: string): string {
  const bytes = Buffer.from(hex, 'hex').swap32();
  if (bytes.length === 4) return bytes.join('.');
  const groups = bytes.toString('hex').match(/.{4}/g) ?? [];
  return new SocketAddress({ family: 'ipv6', address: groups.join(':') }).address;
}
