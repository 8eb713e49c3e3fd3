import { Connection } from './connection.mjs';
import { openSession } from './session.mjs';

/** Ids of requests in flight differ between the connections of one session. */
const IDS_PER_CONNECTION = 1e9;

/** One MCP client that sends one request at a time and reports the latency of each. */
export class Caller {
  #connection;
  #headers;
  #lastId = 0;

  static async open(url, extraHeaders) {
    const { connection, headers } = await openSession(url, extraHeaders);
    return new Caller(connection, headers);
  }

  constructor(connection, headers) {
    this.#connection = connection;
    this.#headers = headers;
  }

  /** Further connections in the same session. */
  async more(url, count) {
    const open = async (_, index) => {
      const caller = new Caller(await Connection.open(url), this.#headers);
      caller.#lastId = (index + 1) * IDS_PER_CONNECTION;
      return caller;
    };
    return Promise.all(Array.from({ length: count }, open));
  }

  async request(method, params = {}) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++this.#lastId, method, params });
    const sentAt = performance.now();
    const { body: bytes } = await this.#connection.request('POST', this.#headers, body);
    const ms = performance.now() - sentAt;
    const { result, error } = JSON.parse(responseIn(bytes.toString()));
    if (!result) throw new Error(`${method} failed with ${JSON.stringify(error)}`);
    return { result, ms };
  }

  close() {
    this.#connection.close();
  }
}

/** A long request is answered on an event stream, whose last event is the response. */
const responseIn = (body) => (body.startsWith('{') ? body : /.*^data: (.*)$/ms.exec(body)[1].trim());
