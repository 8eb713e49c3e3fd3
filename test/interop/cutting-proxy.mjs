import { connect, createServer } from 'node:net';

/** A TCP proxy in front of an MCP endpoint that can end event streams, and counts the requests that open a session. */
export class CuttingProxy {
  #pairs = new Set();
  initializations = 0;
  streams = 0;

  static async start(url) {
    const proxy = new CuttingProxy();
    const target = new URL(url);
    proxy.server = createServer((client) =>
      proxy.#join(client, connect(Number(target.port), target.hostname)),
    );
    await new Promise((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    proxy.url = `http://127.0.0.1:${proxy.server.address().port}${target.pathname}`;
    return proxy;
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
