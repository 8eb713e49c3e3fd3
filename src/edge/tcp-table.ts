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

const FILES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
/** The columns: slot, local and remote address, state, queues, timer (01: retransmission), number of retransmissions. */
const LINE = /^ *\d+: \w+:(\w{4}) ([\dA-F]{8}|[\dA-F]{32}):(\w{4}) \w\w \w+:\w+ 01:\w+ (\w{8})/gm;

/** The kernel returns at most one page of memory per read. There is also room for the incomplete line before it. */
const buffer = Buffer.allocUnsafeSlow(16_384);

/**
 * Reads the TCP connections of this network namespace from Linux, in chunks of whole lines; yields nothing on other
 * systems. The buffer is shared: only one reader at a time.
 */
export async function* readTcpTable(files: readonly string[] = FILES): AsyncGenerator<string, void> {
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
  let filled = 0;
  for (;;) {
    const { bytesRead } = await table.read(buffer, filled, buffer.length - filled);
    if (bytesRead === 0) return;
    filled += bytesRead;
    const end = buffer.lastIndexOf('\n', filled - 1) + 1;
    yield buffer.toString('latin1', 0, end);
    buffer.copyWithin(0, end, filled);
    filled -= end;
  }
}

export function* unacknowledgedIn(table: string): Iterable<UnacknowledgedConnection> {
  for (const [, localPort, remoteAddress, remotePort, retransmissions] of table.matchAll(LINE))
    yield {
      localPort: parseInt(localPort!, 16),
      remoteAddress: addressOf(remoteAddress!),
      remotePort: parseInt(remotePort!, 16),
      retransmissions: parseInt(retransmissions!, 16),
    };
}

/** The address as Node writes it. The table has little-endian words of four bytes. */
function addressOf(hex: string): string {
  const bytes = Buffer.from(hex, 'hex').swap32();
  if (bytes.length === 4) return bytes.join('.');
  const groups = bytes.toString('hex').match(/.{4}/g) ?? [];
  return new SocketAddress({ family: 'ipv6', address: groups.join(':') }).address;
}
