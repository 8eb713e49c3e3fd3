import { readFile } from 'node:fs/promises';
import { SocketAddress } from 'node:net';

/** A connection whose other side has something to acknowledge. */
export interface Unanswered {
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** How often what the other side did not acknowledge was sent again since it last acknowledged anything. */
  readonly retransmissions: number;
}

const FILES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
/** Place, local end, remote end, state, queues, timer (01: something is to be sent again), retransmissions. */
const LINE = /^ *\d+: \w+:(\w{4}) ([\dA-F]{8}|[\dA-F]{32}):(\w{4}) \w\w \w+:\w+ 01:\w+ (\w{8})/gm;

/** What Linux says of the connections of this network namespace. Nothing on other systems. */
export async function readTcpTable(): Promise<string> {
  const tables = await Promise.all(FILES.map((file) => readFile(file, 'latin1').catch(() => '')));
  return tables.join('');
}

export function* unansweredIn(table: string): Iterable<Unanswered> {
  for (const [, localPort, remoteAddress, remotePort, retransmissions] of table.matchAll(LINE))
    yield {
      localPort: parseInt(localPort!, 16),
      remoteAddress: addressOf(remoteAddress!),
      remotePort: parseInt(remotePort!, 16),
      retransmissions: parseInt(retransmissions!, 16),
    };
}

/** As Node writes it. The table has words of four bytes, the last byte first. */
function addressOf(hex: string): string {
  const bytes = Buffer.from(hex, 'hex').swap32();
  if (bytes.length === 4) return bytes.join('.');
  const groups = bytes.toString('hex').match(/.{4}/g) ?? [];
  return new SocketAddress({ family: 'ipv6', address: groups.join(':') }).address;
}
