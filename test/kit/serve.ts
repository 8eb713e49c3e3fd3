import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onCleanup } from './cleanup.js';
import { within } from './until.js';

/** Starts an HTTP server on a free port. It is closed after the test. */
export async function serve(listener: RequestListener): Promise<{ url: string }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onCleanup(async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await within('a server to close', closed);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
