import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { until } from './waits.mjs';

const UNREACHABLE_MS = 60_000;

/**
 * A TCP proxy in front of an MCP endpoint that can end event streams, and counts the requests that open a session. A connection
 * waits while the endpoint cannot be reached, as at a load balancer.
 */
export class CuttingProxy {
  #pairs = new Set();
  initializations = 0;
  streams = 0;

  static async start(url) {
    const proxy = new CuttingProxy();
    const target = new URL(url);
    proxy.server = createServer({ pauseOnConnect: true }, (client) => void proxy.#accept(client, target));
    await new Promise((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    proxy.url = `http://127.0.0.1:${proxy.server.address().port}${target.pathname}`;
    return proxy;
  }

  async #accept(client, { port, hostname }) {
    client.on('error', () => undefined);
    let upstream;
    const isConnected = async () => {
      if (client.destroyed) return true;
      upstream = connect(Number(port), hostname);
      return once(upstream, 'connect').then(
        () => true,
        () => false,
      );
    };
    await until('a connection to the endpoint', isConnected, UNREACHABLE_MS).catch(() => client.destroy());
    if (client.destroyed) upstream?.destroy();
    else this.#join(client, upstream);
  }

  #join(client, upstream) {
    const pair = { client, upstream, isStream: false };
    this.#pairs.add(pair);
    const end = () => {
      this.#pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.setNoDelay(true).on('error', end).on('close', end);
    client.on('data', (bytes) => this.#inspect(pair, bytes.toString('latin1')));
    client.pipe(upstream);
    upstream.pipe(client);
  }

  #inspect(pair, text) {
    if (/"method":\s*"initialize"/.test(text)) this.initializations += 1;
    if (!text.startsWith('GET ')) return;
    pair.isStream = true;
    this.streams += 1;
  }

  /** Cuts the connections with an open event stream. */
  cut() {
    for (const { client, isStream } of this.#pairs) if (isStream) client.resetAndDestroy();
  }

  /** Ends open event streams as a load balancer does: with the last chunk of the body. */
  end() {
    for (const { client, upstream, isStream } of this.#pairs) {
      if (!isStream) continue;
      upstream.unpipe(client);
      client.end('0\r\n\r\n');
    }
  }

  stop() {
    this.server.close();
    for (const { client } of this.#pairs) client.destroy();
  }
}
