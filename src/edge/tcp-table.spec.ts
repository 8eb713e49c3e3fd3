import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { readTcpTable, unacknowledgedIn } from './tcp-table.js';

const HEADER =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const line = (ends: string, timer: string, retransmissions: string): string =>
  `   3: ${ends} 01 00000013:00000000 ${timer}:00000072 ${retransmissions}     0        0 1234 2 0000000000000000 21 4 30 10 -1\n`;

const IPV6 = 'B80D01200000000000000000';

describe('the TCP table', () => {
  it('is read in whole lines', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'tcp-table-'));
    onCleanup(() => rm(directory, { recursive: true }));
    const file = join(directory, 'tcp');
    const table = HEADER + line('0100090A:0F9F 0200090A:A1B2', '01', '00000002').repeat(2000);
    await writeFile(file, table);
    const chunks: string[] = [];
    for await (const chunk of readTcpTable([file, join(directory, 'none'), file])) chunks.push(chunk);
    expect(chunks.length).toBeGreaterThan(4);
    expect(chunks.every((chunk) => chunk.endsWith('\n'))).toBe(true);
    expect(chunks.join('')).toBe(table + table);
    expect(chunks.flatMap((chunk) => [...unacknowledgedIn(chunk)])).toHaveLength(4000);
  });

  it('of this system can be read, or is empty', async () => {
    for await (const chunk of readTcpTable()) expect(chunk).toMatch(/\n$/);
  });

  it.each([
    ['IPv4', '0100090A:0F9F 0200090A:A1B2', '10.9.0.2'],
    [
      'IPv4 on a dual-stack socket',
      '0000000000000000FFFF00000100090A:0F9F 0000000000000000FFFF00000200090A:A1B2',
      '::ffff:10.9.0.2',
    ],
    ['IPv6', `${IPV6}01000000:0F9F ${IPV6}02000000:A1B2`, '2001:db8::2'],
  ])('gives the addresses of a connection over %s', (_what, ends, remoteAddress) => {
    expect([...unacknowledgedIn(HEADER + line(ends, '01', '0000000B'))]).toEqual([
      { localPort: 3999, remoteAddress, remotePort: 41394, retransmissions: 11 },
    ]);
  });

  it.each([
    ['no timer', '00'],
    ['the keep-alive timer', '02'],
    ['the zero window probe timer', '04'],
  ])('gives no unacknowledged connection for %s', (_what, timer) => {
    const ends = '0100090A:0F9F 0200090A:A1B2';
    expect([...unacknowledgedIn(HEADER + line(ends, timer, '00000009'))]).toEqual([]);
  });
});
