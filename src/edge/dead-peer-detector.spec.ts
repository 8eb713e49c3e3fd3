import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { flushPromises } from '../../test/kit/promises.js';
import { deferred, within } from '../../test/kit/until.js';
import { DeadPeerDetector } from './dead-peer-detector.js';

const CHECK_INTERVAL_MS = 10_000;

async function* chunksOf(...chunks: readonly (string | Promise<string>)[]): AsyncGenerator<string, void> {
  yield* chunks;
}

const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0');

/** A line of the kernel's table. */
const lineOf = ({ localPort, remotePort }: Socket, retransmissions: number): string =>
  `   0: 0100007F:${hex(localPort!)} 0100007F:${hex(remotePort!)} 01 00000013:00000000 01:00000072 0000000${retransmissions}  0\n`;

describe('DeadPeerDetector', () => {
  let server: Server;
  let read: jest.Mock<() => AsyncIterable<string>>;

  beforeEach(async () => {
    jest.useFakeTimers({
      doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'setTimeout', 'clearTimeout'],
    });
    onCleanup(() => jest.useRealTimers());
    read = jest.fn(() => chunksOf());
    server = createServer();
    new DeadPeerDetector(read).watch(server);
    server.listen(0, '127.0.0.1');
    await within('listening', once(server, 'listening'));
    onCleanup(() => server.close());
  });

  /** Returns the server's socket of a new connection. */
  async function connectClient(): Promise<Socket> {
    const accepted = once(server, 'connection');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    onCleanup(() => client.destroy());
    const [socket] = (await within('a connection', accepted)) as [Socket];
    onCleanup(() => socket.destroy());
    return socket;
  }

  it('closes only connections with too many retransmissions', async () => {
    const [lost, slow, healthy] = [await connectClient(), await connectClient(), await connectClient()];
    read.mockReturnValue(chunksOf(lineOf(slow, 6), lineOf(lost, 7)));
    const closed = once(lost, 'close');
    jest.advanceTimersByTime(CHECK_INTERVAL_MS);
    await within('the end of the connection', closed);
    expect([lost, slow, healthy].map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
  });

  it('closes nothing where the system has no table', async () => {
    const socket = await connectClient();
    for (let check = 0; check < 3; check++) {
      jest.advanceTimersByTime(CHECK_INTERVAL_MS);
      await flushPromises();
    }
    expect(read).toHaveBeenCalledTimes(3);
    expect(socket.destroyed).toBe(false);
  });

  it('reads the table again after a read failed, and logs the first of several failures', async () => {
    const lines = recordLog();
    const lost = await connectClient();
    const failed = (): AsyncIterable<string> => chunksOf(Promise.reject(new Error('EIO: i/o error')));
    read.mockImplementationOnce(failed).mockImplementationOnce(failed);
    read.mockReturnValue(chunksOf(lineOf(lost, 7)));
    const closed = once(lost, 'close');
    for (let check = 0; check < 3; check++) {
      jest.advanceTimersByTime(CHECK_INTERVAL_MS);
      await flushPromises();
    }
    await within('the end of the connection', closed);
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { level: 'warn', message: 'the TCP table cannot be read', cause: expect.stringContaining('EIO') },
    ]);
  });

  it('reads the table only with open connections, and once at a time', async () => {
    jest.advanceTimersByTime(60_000);
    expect(read).not.toHaveBeenCalled();
    await connectClient();
    const table = deferred<string>();
    read.mockReturnValueOnce(chunksOf(table.promise));
    jest.advanceTimersByTime(60_000);
    expect(read).toHaveBeenCalledTimes(1);
    table.resolve('');
    await flushPromises();
    jest.advanceTimersByTime(CHECK_INTERVAL_MS);
    expect(read).toHaveBeenCalledTimes(2);
  });

  it('stops when the server is closed', async () => {
    const socket = await connectClient();
    const closed = once(server, 'close');
    server.close();
    socket.destroy();
    await within('the end of the server', closed);
    expect(jest.getTimerCount()).toBe(0);
  });
});
