import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { until, within } from '../../test/kit/until.js';
import { UnreadByPrincipal, UnreadResponses } from './unread-responses.js';

/** More than the socket buffers of the kernel. */
const LARGE = 'x'.repeat(20_000_000);
const LIMITS = { unreadBytesPerSession: 1000, unreadBytesPerPrincipal: 1500, streamStuckMs: 60_000 };

/** Both ends of a connection whose client reads nothing until `socket.resume()`. */
async function openConnection(): Promise<{ socket: Socket; response: ServerResponse }> {
  const server = createServer((_request, given) => server.emit('opened', given));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  socket.on('error', () => {});
  onCleanup(() => {
    socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  const [response] = (await within('a request', once(server, 'opened'))) as [ServerResponse];
  return { socket, response };
}

async function unreadResponse(limits: Partial<typeof LIMITS> = {}, onStuck?: () => void) {
  const connection = await openConnection();
  const byPrincipal = new UnreadByPrincipal();
  const unread = new UnreadResponses(
    { ...LIMITS, ...limits },
    { quotaKey: 'p' },
    byPrincipal,
    onStuck && { countStreamEnd: onStuck },
  );
  connection.response.end(LARGE);
  unread.watch(connection.response);
  return { ...connection, unread, byPrincipal };
}

describe('UnreadResponses', () => {
  it('counts a response until its client has read it', async () => {
    const { socket, response, unread, byPrincipal } = await unreadResponse();
    expect(byPrincipal.of('p')).toBeGreaterThan(1_000_000);
    expect(unread.limitError()).toMatchObject({
      kind: 'limit-exceeded',
      memoryLimit: 'unread-responses',
      data: { code: 'LimitExceeded', limit: 1000 },
    });
    socket.resume();
    await until('everything is read', () => unread.limitError() === undefined);
    expect(byPrincipal.of('p')).toBe(0);
    expect([response.writableFinished, socket.destroyed]).toEqual([true, false]);
  });

  it('does not count a response that the kernel has taken', async () => {
    const { response } = await openConnection();
    const byPrincipal = new UnreadByPrincipal();
    response.end('short');
    new UnreadResponses(LIMITS, { quotaKey: 'p' }, byPrincipal).watch(response);
    expect(byPrincipal.of('p')).toBe(0);
    expect(response.listenerCount('timeout')).toBe(0);
  });

  it('disconnects a client that reads nothing, and reports it', async () => {
    let stuck = 0;
    const { response, byPrincipal } = await unreadResponse({ streamStuckMs: 100 }, () => stuck++);
    await until('the response is destroyed', () => response.destroyed);
    await until('its bytes are released', () => byPrincipal.of('p') === 0);
    expect(stuck).toBe(1);
  });

  it('keeps the connection of a client that reads slowly', async () => {
    const { socket, response, byPrincipal } = await unreadResponse({ streamStuckMs: 600 });
    let isLate = false;
    let read = 0;
    const timer = setTimeout(() => (isLate = true), 1800);
    onCleanup(() => clearTimeout(timer));
    const pump = setInterval(() => (read += (socket.read(65_536) as Buffer | null)?.length ?? 0), 10);
    onCleanup(() => clearInterval(pump));
    await until('the timeout has passed several times', () => isLate);
    expect([response.destroyed, byPrincipal.of('p') > 0, read > 0]).toEqual([false, true, true]);
  });

  it('releases everything with its session, and disconnects a client that still reads nothing', async () => {
    const { response, unread, byPrincipal } = await unreadResponse();
    unread.close();
    expect(byPrincipal.of('p')).toBe(0);
    const { response: late } = await openConnection();
    late.end(LARGE);
    unread.watch(late);
    await until('both responses are destroyed', () => response.destroyed && late.destroyed);
    unread.add(5);
    expect(byPrincipal.of('p')).toBe(0);
  });

  it('limits the bytes of all sessions of one principal', () => {
    const byPrincipal = new UnreadByPrincipal();
    const [one, other, foreign] = ['p', 'p', 'q'].map(
      (quotaKey) => new UnreadResponses(LIMITS, { quotaKey }, byPrincipal),
    );
    one!.add(800);
    other!.add(700);
    expect(one!.limitError()).toMatchObject({ data: { limit: 1500 } });
    expect(other!.limitError()).toMatchObject({ data: { limit: 1500 } });
    expect(foreign!.limitError()).toBeUndefined();
    other!.add(-1);
    expect(one!.limitError()).toBeUndefined();
  });
});
